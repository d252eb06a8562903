import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
const files = {
  alpha: { "SKILL.md": skillText("alpha"), "scripts/run.sh": "#!/bin/sh\n" },
  beta: { "SKILL.md": skillText("beta") },
};

interface Clone {
  readonly at: string;
  readonly cli: (...args: string[]) => Promise<CliRun>;
  readonly lock: () => string;
}

/** A directory that has only the lock, as a fresh clone has. */
function cloneOf(lock: string, env: Record<string, string> = {}): Clone {
  const at = path.join(project.directory, `clone-${Math.random().toString(16).slice(2)}`);
  mkdirSync(at);
  writeFileSync(path.join(at, "skills-lock.json"), lock);
  return {
    at,
    cli: (...args) => runCli(args, { cwd: at, env: { CI: "", ...env } }),
    lock: () => readFileSync(path.join(at, "skills-lock.json"), "utf8"),
  };
}

async function locked(): Promise<{
  readonly origin: string;
  readonly publish: Awaited<ReturnType<typeof openPublisher>>["publish"];
  readonly lock: string;
  readonly here: string[];
}> {
  const { origin, publish } = await openPublisher();
  await publish(files);
  const first = cloneOf('{"version":1,"skills":{}}');
  await first.cli("add", origin, "--all", "--yes");
  return { origin, publish, lock: first.lock(), here: ["--allow-private", new URL(origin).host] };
}

test("a fresh clone learns what is missing, and add installs exactly that; verify is clean and nothing is granted", async () => {
  const { lock, here } = await locked();
  const { cli, lock: lockNow, at } = cloneOf(lock);
  expect((await cli("list")).stderr).toContain(
    "skills-lock.json names skills that are not here (alpha, beta): acp-skills add installs exactly what it names",
  );
  expect((await cli("verify")).stdout).toContain(
    "missing  alpha: its directory does not exist; acp-skills add installs",
  );
  const asked = await cli("add", ...here);
  expect(asked).toMatchObject({ code: 3, stderr: expect.stringContaining("exactly as the lock names them") as string });
  const { code, stderr } = await cli("add", "--yes", ...here);
  expect([code, stderr]).toEqual([0, expect.stringContaining("2 installed, 0 there already, 0 not possible")]);
  expect(lockNow()).toBe(lock);
  expect(await cli("verify")).toMatchObject({ code: 0, stdout: "ok       alpha\nok       beta\n" });
  expect((await cli("add", "--yes", ...here)).stderr).toContain("0 installed, 2 there already, 0 not possible");
  expect((await cli("approvals", "list")).stderr).toContain("nothing is approved");
  expect((await cli("ledger")).stdout).toMatch(/add +alpha .*as locked, from http/);
  rmSync(path.join(at, ".agents/skills/beta"), { recursive: true });
  expect((await cli("add", "--yes", ...here)).stderr).toContain("1 installed, 1 there already");
});

test("other bytes are never installed: the rest is, or nothing with --frozen, which CI implies", async () => {
  const { publish, lock, here } = await locked();
  await publish({ ...files, beta: { "SKILL.md": `${skillText("beta")}More.\n` } });
  const why =
    /beta: the lock names sha256:\S+, and \S+ has other bytes now \(sha256:\S+\); acp-skills update beta takes those/;
  for (const { args, env } of [
    { args: ["--frozen"], env: {} },
    { args: [], env: { CI: "true" } },
  ]) {
    const frozen = cloneOf(lock, env);
    const { code, stderr } = await frozen.cli("add", ...args, ...here);
    expect(code).toBe(3);
    expect(stderr).toMatch(why);
    expect(stderr).toContain("0 installed, 0 there already, 1 not possible; --frozen installs all or nothing");
    expect((await frozen.cli("verify")).stdout).toMatch(/^missing {2}alpha/m);
    expect(frozen.lock()).toBe(lock);
  }
  const { cli, lock: lockNow } = cloneOf(lock);
  const { code, stderr } = await cli("add", "--yes", ...here);
  expect([code, stderr]).toEqual([3, expect.stringMatching(why)]);
  expect(stderr).toContain("1 installed, 0 there already, 1 not possible");
  expect(lockNow()).toBe(lock);
});

test("what was changed here stays, unless --discard-changes restores it", async () => {
  const { lock, here } = await locked();
  const { cli, at } = cloneOf(lock, { CI: "1" });
  expect((await cli("add", ...here)).code).toBe(0);
  const file = path.join(at, ".agents/skills/alpha/SKILL.md");
  writeFileSync(file, `${skillText("alpha")}Mine.\n`);
  const { code, stderr } = await cli("add", ...here);
  expect([code, stderr]).toEqual([3, expect.stringContaining("it has local changes (changed: SKILL.md")]);
  expect(readFileSync(file, "utf8")).toContain("Mine.");
  expect((await cli("add", "--discard-changes", ...here)).code).toBe(0);
  expect(readFileSync(file, "utf8")).toBe(skillText("alpha"));
});

test("an entry of the skills package is restored by its hash, and one that has none pins nothing", async () => {
  const { lock, here } = await locked();
  const { skills } = JSON.parse(lock) as { skills: Record<string, Record<string, unknown>> };
  const { source, sourceUrl, sourceType, computedHash } = skills["alpha"] ?? {};
  const theirs = { source, sourceUrl, sourceType };
  const text = JSON.stringify({ version: 1, skills: { alpha: { ...theirs, computedHash }, beta: theirs } });
  const { cli } = cloneOf(text);
  const { code, stderr } = await cli("add", "--yes", ...here);
  expect(code).toBe(3);
  expect(stderr).toContain("installed alpha");
  expect(stderr).toContain(
    "beta: its entry in the lock pins nothing, neither a commit nor a digest; acp-skills update beta",
  );
});

test.each([
  [["add", "--all"], "--all is for add with a SOURCE"],
  [["add", "example.com", "--frozen"], "--frozen is for add without a SOURCE"],
])("%j is refused", async (args, message) => {
  expect(await cloneOf("{}").cli(...args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(message) as string,
  });
});

test("without a lock there is nothing to install", async () => {
  const { cli, at } = cloneOf("{}");
  rmSync(path.join(at, "skills-lock.json"));
  expect(await cli("add")).toMatchObject({ code: 3, stderr: expect.stringContaining("does not exist") as string });
  expect((await cli("list")).stderr).not.toContain("skills-lock.json");
});
