import { expect, test } from "vitest";
import { parseArguments } from "../../src/cli/run-command.ts";
import { command as check } from "../../src/cli/commands/authoring/check.ts";
import { command as list } from "../../src/cli/commands/inspect/list.ts";
import { command as show } from "../../src/cli/commands/inspect/show.ts";
import { command as wrap } from "../../src/cli/commands/serve/wrap.ts";

test("parses options and positionals by the command's table", () => {
  const argv = ["a", "--level", "wire", "--fix", "b", "--reporter=json", "--", "--c"];
  expect(parseArguments(check, argv)).toEqual({
    options: { level: "wire", fix: true, reporter: "json" },
    positionals: ["a", "b", "--c"],
  });
});

test("keeps every value of a repeatable option in order", () => {
  expect(parseArguments(list, ["--skills", "one", "--skills=two"])).toEqual({
    options: { skills: ["one", "two"] },
    positionals: [],
  });
});

test.each([
  [["--jsn"], "unknown option --jsn; did you mean --json?"],
  [["--no-default-root"], "unknown option --no-default-root; did you mean --no-default-roots?"],
  [["-x"], "unknown option -x"],
  [["--__proto__"], "unknown option --__proto__"],
  [["--constructor"], "unknown option --constructor"],
  [["--skills"], "--skills needs a value: --skills DIR"],
  [["--skills="], "--skills needs a value: --skills DIR"],
  [["--skills", "--json"], "--skills needs a value: --skills DIR; write --skills=--json if you mean it"],
  [["--json=yes"], "--json takes no value"],
  [["extra"], "unexpected argument extra"],
])("list rejects %j", (argv, message) => {
  expect(() => parseArguments(list, argv)).toThrow(expect.objectContaining({ code: "INVALID_OPTIONS", message }));
});

test("rejects a value that is not one of the choices, and lists them", () => {
  expect(() => parseArguments(check, ["--level", "specs"])).toThrow(
    /^--level needs agents, spec, .* or lenient, not specs$/,
  );
});

test("accepts the earlier names of options, and says the new ones", () => {
  const notes: string[] = [];
  const argv = ["--emit", "none", "--no-teach", "--no-approve", "--emit=rfd", "--", "agent"];
  const { options } = parseArguments(wrap, argv, (line) => notes.push(line)) as { options: unknown };
  expect(options).toEqual({ announce: "rfd", "no-instruct-model": true, "no-answer-permissions": true });
  expect(notes).toEqual([
    "--emit is called --announce now",
    "--no-teach is called --no-instruct-model now",
    "--no-approve is called --no-answer-permissions now",
    "--emit is called --announce now",
  ]);
});

test("names a missing positional, unless --help is given", () => {
  expect(() => parseArguments(show, [])).toThrow("missing NAME");
  expect(parseArguments(show, ["-h"])).toBe("help");
});

test("the words after -- are positionals, or passed on separately by a command that takes them", () => {
  expect(parseArguments(check, ["--", "--fix"])).toEqual({ options: {}, positionals: ["--fix"] });
  expect(parseArguments(wrap, ["--no-instruct-model", "--", "agent", "--help"])).toEqual({
    options: { "no-instruct-model": true },
    positionals: [],
    rest: ["agent", "--help"],
  });
});
