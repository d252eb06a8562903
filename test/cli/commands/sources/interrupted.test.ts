import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, utimesSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { usePublisher } from "./publish-skills.ts";

const home = useTemporaryProject();
const openPublisher = usePublisher();
const project = { at: (...segments: string[]): string => home.at("project", ...segments) };
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.at(), env: { HOME: home.directory } });
const here = ["--allow-private", "127.0.0.1"];
const texts = { old: skillText("alpha"), new: skillText("alpha", "Newer. Use when alpha is asked for.") };
const skillMd = (): string => project.at(".agents/skills/alpha/SKILL.md");
const modules = [
  new URL("../../../../.build/sources/lock/change-record.js", import.meta.url),
  new URL("../../../../.build/sources/lock/staging.js", import.meta.url),
  new URL("../../../../.build/sources/lock-file.js", import.meta.url),
  new URL("../../../../.build/sources/install-scope.js", import.meta.url),
];

beforeEach(() => mkdirSync(project.at()));

/** Updates alpha in a process that kills itself between taking the old version away and putting the new one there. */
function updateAndDie(): void {
  const program = `
    const [{ createChangeRecord }, { openStaging }, { readLock }, { projectScope }] = await Promise.all(
      ${JSON.stringify(modules)}.map((module) => import(module)),
    );
    const place = projectScope(process.cwd(), ${JSON.stringify(home.directory)}, {});
    const before = readLock(place).entries.get("alpha");
    const skills = ${JSON.stringify(project.at(".agents", "skills"))};
    const changes = [{ key: "alpha", before, after: { ...before, version: "2.0.0" } }];
    const staging = openStaging(skills, createChangeRecord(place, { skills, changes }));
    staging.write("alpha", [{ path: "SKILL.md", bytes: Buffer.from(${JSON.stringify(texts.new)}), executable: false }]);
    staging.swap("alpha", () => process.kill(process.pid, "SIGKILL"));`;
  const { signal } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: project.at() });
  expect(signal).toBe("SIGKILL");
}

test("an update that was killed is seen by verify, and the next command finishes it", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: { "SKILL.md": texts.old } });
  await cli("add", origin, "--yes");
  updateAndDie();
  expect(existsSync(skillMd())).toBe(false);
  const { code, stderr } = await cli("verify");
  expect(stderr).toContain(
    "a change of alpha was interrupted; the next acp-skills update, add or remove finishes it\n",
  );
  expect(code).toBe(1);
  expect((await cli("update", "--yes", ...here)).stderr).toBe("acp-skills: everything is up to date\n");
  expect(readFileSync(skillMd(), "utf8")).toBe(texts.old);
  expect((await cli("verify")).code).toBe(0);
  expect(readdirSync(project.at(".agents"))).toEqual(["skills"]);
});

test("an update that was killed is finished where its project was moved to, and reported where it was copied to", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: { "SKILL.md": texts.old } });
  await cli("add", origin, "--yes");
  updateAndDie();
  const at = (name: string, ...args: string[]): Promise<CliRun> =>
    runCli(args, { cwd: home.at(name), env: { HOME: home.directory } });
  cpSync(project.at(), home.at("copied"), { recursive: true });
  renameSync(project.at(), home.at("moved"));
  expect((await at("copied", "remove", "alpha")).stderr).toMatch(/copied\/.agents\/.acp-skills-.* is left alone/);
  expect(await at("moved", "verify")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("a change of alpha was interrupted") as string,
  });
  expect((await at("moved", "update", "--yes", ...here)).stderr).toBe("acp-skills: everything is up to date\n");
  expect(readFileSync(home.at("moved/.agents/skills/alpha/SKILL.md"), "utf8")).toBe(texts.old);
  expect((await at("moved", "verify")).code).toBe(0);
  expect(readdirSync(home.at("moved/.agents"))).toEqual(["skills"]);
});

test.each(["{]\n", "null\n", "{}\n", '{"lockFile":"x","changes":[]}\n"\n{\n'])(
  "a record of changes that is damaged (%j) is told, and ends no command",
  async (text) => {
    const { origin, publish } = await openPublisher();
    await publish({ alpha: { "SKILL.md": texts.old } });
    expect((await cli("add", origin, "--yes")).code).toBe(0);
    // Of a process that ended long ago.
    const record = home.write(".local/share/acp-skills/changes/4194304-1-00000000-0123456789abcdef.jsonl", text);
    utimesSync(record, 0, 0);
    expect((await cli("verify")).code).toBe(0);
    for (const command of [
      ["add", origin, "--yes"],
      ["update", ...here],
      ["remove", "alpha"],
    ]) {
      const { code, stderr } = await cli(...command);
      expect(code).toBe(0);
      expect(stderr).toContain(`${record} is damaged, and left alone: remove it\n`);
    }
  },
);

describe("what a project ships as an interrupted change is left as it is, and reported", () => {
  // Of a process that ended long ago, and of another boot.
  const name = ".acp-skills-4194304-1-00000000-0123456789abcdef";
  const left = (): string => project.at(".agents", name);

  test.each([
    {
      what: "a link to the directory of what was put aside",
      make: () => symlinkSync("../../../secret", `${left()}/old`),
    },
    {
      what: "a directory with files that are no skills",
      make: () => home.write(`project/.agents/${name}/old/b/x`, "x"),
    },
  ])("$what", async ({ make }) => {
    const { origin, publish } = await openPublisher();
    await publish({ alpha: { "SKILL.md": texts.old }, beta: { "SKILL.md": skillText("beta") } });
    home.write("secret/id_ed25519", "key");
    mkdirSync(left(), { recursive: true });
    make();
    utimesSync(left(), 0, 0);
    const before = readdirSync(left(), { recursive: true });
    for (const command of [
      ["add", origin, "alpha", "--yes"],
      ["update", "--yes", ...here],
      ["remove", "alpha"],
    ]) {
      const { code, stderr } = await cli(...command);
      expect(stderr).toContain(`${left()} is left alone: nothing says that acp-skills made it here`);
      expect(code).toBe(0);
      expect(readdirSync(home.at("secret"))).toEqual(["id_ed25519"]);
      expect(readdirSync(left(), { recursive: true })).toEqual(before);
    }
    expect(readdirSync(project.at(".agents", "skills"))).toEqual([]);
  });

  test("a link in the place of the whole directory", async () => {
    const { origin, publish } = await openPublisher();
    await publish({ alpha: { "SKILL.md": texts.old } });
    home.write("secret/old/id_ed25519", "key");
    mkdirSync(project.at(".agents"));
    symlinkSync("../../secret", left());
    utimesSync(home.at("secret"), 0, 0);
    expect((await cli("add", origin, "--yes")).stderr).not.toContain("id_ed25519");
    expect(readdirSync(home.at("secret", "old"))).toEqual(["id_ed25519"]);
    expect(readdirSync(project.at(".agents", "skills"))).toEqual(["alpha"]);
  });
});
