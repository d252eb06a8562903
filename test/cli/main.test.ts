import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { version } from "../../src/base/version.ts";
import { binary, runCli } from "./run-cli.ts";
import { useTemporaryProject } from "./temporary-project.ts";

const project = useTemporaryProject();

async function run(...args: string[]) {
  return await runCli(args, { cwd: project.directory });
}

test("--help and -h print the whole help on stdout", async () => {
  const help = await run("--help");
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toMatch(/^Usage: acp-skills \[options\] -- AGENT/m);
  const named = ["list", "show NAME", "check [PATH…]", "call TOOL", "tools", "mcp", "blobs", "ledger"];
  for (const command of named) expect(help.stdout).toContain(`acp-skills ${command}`);
  expect(await run("-h")).toEqual(help);
});

test.each([
  ["list", ["--skills DIR", "--cwd DIR", "--no-default-roots", "--json"]],
  ["show", ["--skills DIR", "--cwd DIR", "--no-default-roots", "--json"]],
  ["call", ["--skills DIR", "--cwd DIR", "--no-default-roots"]],
  ["tools", ["--format mcp|openai|anthropic|json-schema"]],
  ["mcp", ["--skills DIR", "--cwd DIR", "--no-default-roots"]],
  ["blobs", ["--raw", "--json"]],
  ["ledger", ["--json"]],
  ["check", ["--level spec|wire|lenient", "--reporter pretty|json|github|sarif", "--fix", "--watch"]],
])("%s --help names each of its options", async (command, options) => {
  const { code, stdout, stderr } = await run(command, "--help");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const option of options) expect(stdout).toContain(`  ${option} `);
});

test("help is found by every usual way", async () => {
  const all = await run("--help");
  expect(await run("help")).toEqual(all);
  const list = await run("list", "--help");
  expect(await run("help", "list")).toEqual(list);
  expect(await run("--help", "list")).toEqual(list);
  expect(await run("help", "lst")).toEqual({
    code: 2,
    stdout: "",
    stderr: "acp-skills: unknown command lst; did you mean list? (see acp-skills --help)\n",
  });
});

test("--version prints the version", async () => {
  expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  expect(await run("-v")).toEqual(await run("--version"));
});

test.each([
  [[], "acp-skills: no agent to run; write: acp-skills [options] -- AGENT [ARG…] (see acp-skills --help)\n"],
  [["--"], "acp-skills: no agent to run; write: acp-skills [options] -- AGENT [ARG…] (see acp-skills --help)\n"],
  [["--", ""], "acp-skills: the agent's command is empty (see acp-skills --help)\n"],
  [["lst"], "acp-skills: unknown command lst; did you mean list? (see acp-skills --help)\n"],
  [
    ["my-agent", "acp"],
    "acp-skills: unknown command my-agent; to run an agent, write: acp-skills -- my-agent acp (see acp-skills --help)\n",
  ],
  [
    ["--skills", "x", "list"],
    "acp-skills: the command comes first; write: acp-skills list … (see acp-skills --help)\n",
  ],
  [["--emitt", "rfd", "--", "x"], "acp-skills: unknown option --emitt; did you mean --emit? (see acp-skills --help)\n"],
  [
    ["--emit", "rdf", "--", "x"],
    "acp-skills: --emit needs one of auto, rfd, commands, none, not rdf; did you mean rfd? (see acp-skills --help)\n",
  ],
  [["list", "--jsn"], "acp-skills: unknown option --jsn; did you mean --json? (see acp-skills list --help)\n"],
  [["list", "extra"], "acp-skills: unexpected argument extra (see acp-skills list --help)\n"],
  [["show"], "acp-skills: NAME is missing (see acp-skills show --help)\n"],
  [["show", "a", "b"], "acp-skills: unexpected argument b (see acp-skills show --help)\n"],
  [
    ["check", "--level", "specc"],
    "acp-skills: --level needs one of spec, wire, lenient, not specc; did you mean spec? (see acp-skills check --help)\n",
  ],
  [["call"], "acp-skills: TOOL is missing (see acp-skills call --help)\n"],
  [
    ["tools", "--format", "opnai"],
    "acp-skills: --format needs one of mcp, openai, anthropic, json-schema, not opnai; did you mean openai? (see acp-skills tools --help)\n",
  ],
  [["blobs"], "acp-skills: list, show, rm or sweep is missing (see acp-skills blobs --help)\n"],
  [["blobs", "lst"], "acp-skills: blobs lst is not known; did you mean blobs list? (see acp-skills blobs --help)\n"],
  [["blobs", "rm"], "acp-skills: ID is missing (see acp-skills blobs --help)\n"],
  [["blobs", "show", "a", "b"], "acp-skills: unexpected argument b (see acp-skills blobs --help)\n"],
  [["ledger", "x"], "acp-skills: unexpected argument x (see acp-skills ledger --help)\n"],
  [["check", "--\u001b[31m"], "acp-skills: unknown option --\\u{1b}[31m (see acp-skills check --help)\n"],
])("usage: acp-skills %j is refused in one line with exit code 2", async (args, stderr) => {
  expect(await run(...args)).toEqual({ code: 2, stdout: "", stderr });
});

test.skipIf(process.platform === "win32")(
  "a current directory that was deleted is a sentence, and help is still given",
  () => {
    const gone = (...args: string[]) => {
      const script = 'mkdir gone && cd gone && rmdir "$PWD" && exec "$@"';
      const { status, stdout, stderr } = spawnSync("sh", ["-c", script, "sh", process.execPath, binary, ...args], {
        cwd: project.directory,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    };
    const sentence = {
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/^acp-skills: The current directory .*\n$/) as unknown,
    };
    for (const args of [
      ["list"],
      ["show", "x"],
      ["check"],
      ["call", "list_skills"],
      ["mcp"],
      ["--skills", "x", "--", "true"],
    ])
      expect(gone(...args)).toEqual(sentence);
    expect(gone("list", "--help")).toMatchObject({ status: 0, stderr: "" });
  },
);
