import { expect, test } from "vitest";
import { commands } from "../../../src/cli/commands.ts";
import { parseArguments } from "../../../src/cli/arguments/parse-arguments.ts";

test("options and positionals are read by the command's table", () => {
  const argv = ["a", "--level", "wire", "--fix", "b", "--reporter=json", "--", "--c"];
  expect(parseArguments(commands.check, argv)).toEqual({
    options: { level: "wire", fix: true, reporter: "json" },
    positionals: ["a", "b", "--c"],
  });
});

test("a repeatable option keeps every value in the order given", () => {
  expect(parseArguments(commands.list, ["--skills", "one", "--skills=two"])).toEqual({
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
  [["--skills"], "--skills needs a DIR"],
  [["--skills="], "--skills needs a DIR"],
  [["--skills", "--json"], "--skills needs a DIR; write --skills=--json if you mean it"],
  [["--json=yes"], "--json takes no value"],
  [["extra"], "unexpected argument extra"],
])("list refuses %j", (argv, usageFault) => {
  expect(parseArguments(commands.list, argv)).toEqual({ usageFault });
});

test("a value outside the choices is refused with the nearest one", () => {
  expect(parseArguments(commands.check, ["--level", "specs"])).toEqual({
    usageFault: "--level needs one of spec, wire, lenient, not specs; did you mean spec?",
  });
});

test("a positional that is missing is named, unless help is asked for", () => {
  expect(parseArguments(commands.show, [])).toEqual({ usageFault: "NAME is missing" });
  expect(parseArguments(commands.show, ["-h"])).toEqual({ options: { help: true }, positionals: [] });
});
