import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { commands, listedCommands } from "../../../src/cli/commands/commands.ts";
import type { Command } from "../../../src/cli/command.ts";
import { binary, runCli } from "../run-cli.ts";
import { skillText, useTemporaryProject } from "../temporary-project.ts";

const project = useTemporaryProject();
const shells = ["bash", "zsh", "fish"] as const;
const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const shell of shells) {
    const { code, stdout } = await runCli(["completion", shell], { cwd: "/" });
    expect(code).toBe(0);
    scripts.set(shell, stdout);
  }
});

const isHere = (shell: string): boolean => spawnSync(shell, ["--version"]).error === undefined;

/** Runs a program of the shell in a project with one skill, where acp-skills is on PATH. */
async function runShell(shell: string, args: readonly string[]): Promise<readonly string[]> {
  project.write(".agents/skills/sort-rows/SKILL.md", skillText("sort-rows"));
  project.write("script", scripts.get(shell) ?? "");
  const launcher = project.write("bin/acp-skills", `#!/bin/sh\nexec '${process.execPath}' '${binary}' "$@"\n`);
  await promisify(execFile)("chmod", ["+x", launcher]);
  const { stdout } = await promisify(execFile)(shell, [...args], {
    cwd: project.directory,
    env: { PATH: `${project.at("bin")}:${process.env["PATH"] ?? ""}`, HOME: project.directory, TERM: "dumb" },
  });
  return stdout
    .split("\n")
    .map((line) => line.split("\t")[0]?.trim() ?? "")
    .filter((line) => line !== "");
}

const complete: Readonly<Record<string, (words: readonly string[]) => Promise<readonly string[]>>> = {
  bash: async (words) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const program = `. ./script; COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _acp_skills; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return await runShell("bash", ["--norc", "-c", program]);
  },
  fish: async (words) =>
    await runShell("fish", ["--no-config", "-c", `source ./script; complete -C '${words.join(" ")}'`]),
};

describe.each(Object.entries(complete))("in %s", (shell, at) => {
  test.skipIf(!isHere(shell))("completes commands, options, their values, skills, editors and tools", async () => {
    expect(await at(["acp-skills", "comp"])).toEqual(["completion"]);
    expect(await at(["acp-skills", "check", "--le"])).toEqual(["--level"]);
    expect(await at(["acp-skills", "check", "--level", "w"])).toEqual(["wire"]);
    expect(await at(["acp-skills", "show", ""])).toEqual(["sort-rows"]);
    expect(await at(["acp-skills", "setup", "je"])).toEqual(["jetbrains"]);
    expect(await at(["acp-skills", "call", "list_"])).toEqual(["list_skills"]);
    expect(await at(["acp-skills", "completion", "z"])).toEqual(["zsh"]);
  });
});

// zsh completes only at a prompt, so it gets one in a pseudo-terminal. Our key completes the line, and prints it between marks.
const zshProgram = `
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1="" PS2=""; stty -echo; autoload -Uz compinit; compinit -u -D; source ./script
  finish() { zle complete-word; print -r -- "<""<$BUFFER>"">"; BUFFER=; zle accept-line }; zle -N finish; bindkey "^X" finish; print REA""DY'
seen=
wait_for() { local chunk; while [[ $seen != *$1* ]]; do zpty -r z chunk || return; seen+=$chunk; done }
wait_for READY
zpty -w -n z "$1"$'\\x18'
wait_for '>>'
print -r -- \${\${seen##*'<<'}%%'>>'*}
zpty -d z
`;

test.skipIf(!isHere("zsh"))(
  "in zsh, completes commands, options, their values, skills, editors and tools",
  async () => {
    for (const [typed, completed] of [
      ["comp", "completion"],
      ["check --le", "check --level"],
      ["check --level w", "check --level wire"],
      ["show so", "show sort-rows"],
      ["setup je", "setup jetbrains"],
      ["call list_", "call list_skills"],
    ] as const)
      expect(await runShell("zsh", ["-f", "-c", zshProgram, "zsh", `acp-skills ${typed}`])).toEqual([
        `acp-skills ${completed}`,
      ]);
  },
);

test("every command, option and closed value is a candidate", async () => {
  const at = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await runCli(["complete", "--", ...words], { cwd: project.directory });
    return stdout.split("\n").map((line) => line.split("\t")[0] ?? "");
  };
  const names = listedCommands().map(({ name }) => name);
  expect(await at("")).toEqual(expect.arrayContaining(names));
  for (const name of names) {
    const { command }: { command: Command } = await commands[name][1]();
    const options = Object.entries(command.options);
    expect(await at(name, "-")).toEqual(expect.arrayContaining(["--help", ...options.map(([long]) => `--${long}`)]));
    for (const [long, { choices = [] }] of options)
      expect(await at(name, `--${long}`, "")).toEqual(expect.arrayContaining([...choices]));
  }
  // After a value that is no list, and after --, the shell completes files.
  expect(await at("wrap", "--", "")).toEqual([""]);
  expect(await at("run", "x", "--script", "")).toEqual([""]);
});

test("names the shells that there are", async () => {
  const { code, stderr } = await runCli(["completion", "fishh"], { cwd: project.directory });
  expect(code).toBe(2);
  expect(stderr).toContain("unknown shell fishh; did you mean fish?");
});
