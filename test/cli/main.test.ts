import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listedCommands, sections } from "../../src/cli/commands/commands.ts";
import { version } from "../../src/base/version.ts";
import { binary, runCli, runProcess } from "./run-cli.ts";
import { useTemporaryProject } from "./temporary-project.ts";

const project = useTemporaryProject();

async function run(...args: string[]) {
  return await runCli(args, { cwd: project.directory });
}

test("prints usage, every command and the common options for --help and -h", async () => {
  const help = await run("--help");
  expect(help).toMatchObject({ code: 0, stderr: "" });
  expect(help.stdout).toMatch(/^Usage: acp-skills \[options\] -- AGENT/m);
  for (const { name, summary } of listedCommands())
    expect(help.stdout).toMatch(new RegExp(`^  ${name} +${summary}$`, "m"));
  expect(help.stdout).not.toContain("mcp-bridge");
  expect(await run("-h")).toEqual(help);
});

test("shows five commands to begin with, and the others by what a person wants", async () => {
  const { stdout } = await run("--help");
  const shown = Array.from(stdout.matchAll(/^(\w[\w ]*):\n((?: {2}\S.*\n)+)/gm), ([, title, lines = ""]) => ({
    title,
    commands: Array.from(lines.matchAll(/^ {2}([a-z-]+) {2,}/gm), ([, name]) => name),
  }));
  expect(shown[0]).toEqual({ title: "Begin with", commands: ["setup", "wrap", "list", "browse", "doctor"] });
  const groups = shown.slice(0, -2);
  expect(groups.map(({ title }) => title)).toEqual(sections.map(({ title }) => title));
  expect(groups.flatMap(({ commands }) => commands)).toEqual(listedCommands().map(({ name }) => name));
  expect(groups.every(({ commands }) => commands.length > 2)).toBe(true);
});

test.each([
  ["list", ["--skills DIR", "--cwd DIR", "--no-default-roots", "--json"]],
  ["show", ["--skills DIR", "--cwd DIR", "--no-default-roots", "--json"]],
  ["call", ["--skills DIR", "--cwd DIR", "--no-default-roots"]],
  ["tools", ["--format mcp|openai|anthropic|json-schema"]],
  ["mcp", ["--skills DIR", "--cwd DIR", "--no-default-roots"]],
  ["blobs", ["--json"]],
  ["ledger", ["--json"]],
  ["runs", ["--json"]],
  ["check", ["--level agents|spec|wire|lenient", "--reporter pretty|json|github|sarif", "--json", "--fix", "--watch"]],
])("%s --help names each of its options", async (command, options) => {
  const { code, stdout, stderr } = await run(command, "--help");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const option of options) expect(stdout).toContain(`  ${option} `);
});

test("prints help for every usual form", async () => {
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
  [[], "acp-skills: missing command or agent (see acp-skills --help)\n"],
  [["--"], "acp-skills: missing agent; write: acp-skills [options] -- AGENT [ARG…] (see acp-skills wrap --help)\n"],
  [["--", ""], "acp-skills: the agent's command is empty (see acp-skills wrap --help)\n"],
  [["lst"], "acp-skills: unknown command lst; did you mean list? (see acp-skills --help)\n"],
  [
    ["my-agent", "acp"],
    "acp-skills: unknown command my-agent; to run an agent, write: acp-skills -- my-agent acp\n  (see acp-skills --help)\n",
  ],
  [
    ["--skills", "x", "list"],
    "acp-skills: the command comes first; write: acp-skills list … (see acp-skills --help)\n",
  ],
  [
    ["--anounce", "rfd", "--", "x"],
    "acp-skills: unknown option --anounce; did you mean --announce? (see acp-skills wrap --help)\n",
  ],
  [
    ["--announce", "rdf", "--", "x"],
    "acp-skills: --announce needs auto, rfd, commands or none, not rdf (see acp-skills wrap --help)\n",
  ],
  [["list", "--jsn"], "acp-skills: unknown option --jsn; did you mean --json? (see acp-skills list --help)\n"],
  [["list", "extra"], "acp-skills: unexpected argument extra (see acp-skills list --help)\n"],
  [["show"], "acp-skills: missing NAME (see acp-skills show --help)\n"],
  [["show", "a", "b"], "acp-skills: unexpected argument b (see acp-skills show --help)\n"],
  [
    ["check", "--level", "specc"],
    "acp-skills: --level needs agents, spec, wire or lenient, not specc (see acp-skills check --help)\n",
  ],
  [["call"], "acp-skills: missing TOOL (see acp-skills call --help)\n"],
  [
    ["tools", "--format", "opnai"],
    "acp-skills: --format needs mcp, openai, anthropic or json-schema, not opnai\n  (see acp-skills tools --help)\n",
  ],
  [["blobs"], "acp-skills: missing action: list, show, read, rm or sweep (see acp-skills blobs --help)\n"],
  [
    ["blobs", "lst"],
    "acp-skills: unknown action lst; use list, show, read, rm or sweep (see acp-skills blobs --help)\n",
  ],
  [["blobs", "rm"], "acp-skills: missing ID (see acp-skills blobs --help)\n"],
  [["blobs", "show", "a", "b"], "acp-skills: unexpected argument b (see acp-skills blobs --help)\n"],
  [["runs", "lst"], "acp-skills: unknown action lst; use list or show (see acp-skills runs --help)\n"],
  [["runs", "show"], "acp-skills: missing ID (see acp-skills runs --help)\n"],
  [["runs", "list", "x"], "acp-skills: unexpected argument x (see acp-skills runs --help)\n"],
  [["ledger", "x"], "acp-skills: unknown action x; use verify, or none (see acp-skills ledger --help)\n"],
  [
    ["run", "nme", "--timeout", "abc"],
    "acp-skills: --timeout needs a duration such as 10s, 500ms or 2m (a plain number is milliseconds),\n  not abc (see acp-skills run --help)\n",
  ],
  [
    ["mcp-bridge"],
    "acp-skills: mcp-bridge is started by wrapped agents; for an MCP client use acp-skills mcp\n  (see acp-skills mcp-bridge --help)\n",
  ],
  [["check", "--\u001b[31m"], "acp-skills: unknown option --\\u{1b}[31m (see acp-skills check --help)\n"],
])("usage: acp-skills %j is refused in a line of at most 100 characters with exit code 2", async (args, stderr) => {
  expect(await run(...args)).toEqual({ code: 2, stdout: "", stderr });
  expect(stderr.split("\n")[0]?.length).toBeLessThanOrEqual(100);
});

test.skipIf(process.platform === "win32")(
  "a deleted current directory is reported in one line, and help is still available",
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
      status: 3,
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

test("every command reports an old Node in one line, before anything else is loaded", async () => {
  const preload = project.write("old.cjs", 'Object.defineProperty(process.versions, "node", { value: "18.20.8" });');
  for (const args of [["doctor"], ["mcp"], ["list"], ["--", "agent"], ["--version"]]) {
    const run = await runProcess(args, { cwd: project.directory, env: { NODE_OPTIONS: `--require ${preload}` } });
    expect(run).toEqual({
      code: 3,
      stdout: "",
      stderr: "acp-skills: acp-skills needs Node 20.19 or newer; this is Node 18.20.8\n",
    });
  }
});

/** Not `import(…)`, which loads something later. */
const importing = /\bimport\b(?!\()[^"]*"([^"]*)"/g;

test("the entry file imports only the check of the Node version, which has no imports itself", () => {
  const main = readFileSync(new URL("../../dist/cli/main.js", import.meta.url), "utf8");
  const imported = Array.from(main.matchAll(importing), ([, name]) => name);
  expect(imported.toSorted()).toEqual(["../chunks/version.js", "node:v8"]);
  const question = readFileSync(new URL("../../dist/chunks/version.js", import.meta.url), "utf8");
  expect(question).not.toMatch(importing);
});
