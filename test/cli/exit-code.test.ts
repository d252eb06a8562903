import { chmodSync, readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { SkillsError } from "../../src/base/errors.ts";
import { exit, exitFor } from "../../src/cli/exit-code.ts";
import { usePublisher } from "./commands/sources/publish-skills.ts";
import { runCli, runProcess } from "./run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "./temporary-project.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
beforeEach(() => {
  project.write("skills/greet/SKILL.md", skillText("greet"));
  writeSecretAction(project);
});

const only = ["--skills", "skills", "--no-default-roots"];

test("the README has the table of exit statuses that the code has", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const [, table = ""] = /\| status +\| meaning +\|\n\| -+ \| -+ \|\n((?:\|.*\n)+)/.exec(readme) ?? [];
  const listed = [...table.matchAll(/^\| ([\d, ]+?) +\|/gm)].flatMap(([, cell = ""]) => cell.split(", ").map(Number));
  expect(listed).toEqual(Object.values(exit));
});

test.each([
  ["done", ["list", ...only]],
  ["done", ["check", "skills/greet"]],
  ["done", ["licenses", ...only]],
  ["found", ["check", "broken"]],
  ["found", ["find", "zebra", ...only]],
  ["found", ["policy", "check", "broken.policy.json"]],
  ["found", ["policy", "check", "absent.policy.json"]],
  ["found", ["check", "empty"]],
  ["usage", ["lst"]],
  ["usage", ["list", "--jsn"]],
  ["usage", ["show"]],
  ["usage", ["run", "greet", "--timeout", "soon"]],
  ["usage", ["list", "--skills", "absent"]],
  ["usage", ["show", "greet", "--cwd", "absent", ...only]],
  ["usage", ["check", "absent"]],
  ["usage", ["licenses", "absent"]],
  ["usage", ["call", "describe_skill", "{}", ...only]],
  ["usage", ["call", "no_such_tool", ...only]],
  ["unable", ["show", "absent", ...only]],
  ["unable", ["run", "absent", ...only]],
  ["unable", ["run", "key.use", ...only]],
  ["unable", ["env", "absent", ...only]],
  ["unable", ["runs", "show", "run_0123456789abcdef"]],
  ["unable", ["replay", "run_0123456789abcdef", ...only]],
  ["unable", ["blobs", "show", `blob:${"0".repeat(32)}`]],
  ["unable", ["approvals", "show", "absent"]],
  ["unable", ["approvals", "revoke", "absent"]],
  ["unable", ["add", "http://127.0.0.1:1", "--yes"]],
  ["unable", ["add"]],
  ["unable", ["discover", "http://127.0.0.1:1"]],
  ["unable", ["find", "greet", "--source", "http://127.0.0.1:1", ...only]],
  ["unable", ["list", "--source", "http://127.0.0.1:1", ...only]],
  ["unable", ["remove", "greet"]],
  ["unable", ["update", "greet"]],
  ["unable", ["init", "greet", "--directory", "skills"]],
  ["unable", ["setup", "zed"]],
  ["notFound", ["conformance", "--", "no-such-agent"]],
  ["notExecutable", ["conformance", "--", "./data.txt"]],
] as const)("ends with the status for %s: acp-skills %j", async (name, args) => {
  project.write("broken/SKILL.md", "no frontmatter");
  project.write("broken.policy.json", "{");
  project.write("empty/notes.txt", "");
  project.write("data.txt", "");
  const { code, stderr } = await runCli(args, { cwd: project.directory });
  expect(code, stderr).toBe(exit[name]);
});

test("a difference is found, and what cannot be read counts more", async () => {
  const cli = async (...args: string[]) => (await runCli(args, { cwd: project.directory })).code;
  const { origin, publish } = await openPublisher();
  const here = ["--allow-private", "127.0.0.1"];
  await publish({ alpha: { "SKILL.md": skillText("alpha") }, beta: { "SKILL.md": skillText("beta") } });
  expect(await cli("add", origin)).toBe(exit.usage);
  expect(await cli("add", origin, "alpha")).toBe(exit.unable);
  expect(await cli("add", origin, "alpha", "--dry-run")).toBe(exit.done);
  expect(await cli("add", origin, "alpha", "--yes")).toBe(exit.done);
  expect(await cli("outdated", ...here)).toBe(exit.done);
  await publish({ alpha: { "SKILL.md": skillText("alpha", "Is new.") } });
  expect(await cli("outdated", ...here)).toBe(exit.found);
  expect(await cli("update", "--check", ...here)).toBe(exit.found);
  expect(await cli("update", "--yes", ...here)).toBe(exit.done);
  project.write(".agents/skills/alpha/SKILL.md", skillText("alpha", "Is mine."));
  expect(await cli("verify")).toBe(exit.found);
  expect(await cli("remove", "alpha")).toBe(exit.unable);
  // Without --allow-private, the lock cannot name a server of this machine.
  expect(await cli("outdated")).toBe(exit.unable);
  expect(await cli("update")).toBe(exit.unable);
});

test("every error but those of the command line and of an input says that the work could not be done", () => {
  expect(exitFor(new SkillsError("INVALID_OPTIONS", ""))).toBe(exit.usage);
  expect(exitFor(new SkillsError("VALIDATION_ERROR", ""))).toBe(exit.usage);
  expect(exitFor(new SkillsError("SANDBOX_UNAVAILABLE", ""))).toBe(exit.unable);
  expect(exitFor(new Error("a bug"))).toBe(exit.unable);
});

test.skipIf(process.getuid?.() === 0 || process.platform === "win32")(
  "a disk that cannot be written, or a directory that is gone, ends with the status for that",
  async () => {
    project.write("home/keep", "");
    chmodSync(project.at("home"), 0o500);
    const options = { cwd: project.directory, env: { HOME: project.at("home") } };
    const { code, stderr } = await runProcess(["approvals", "block", "key.use", ...only], options);
    chmodSync(project.at("home"), 0o700);
    expect(code, stderr).toBe(exit.unable);
  },
);
