import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { sarifLog } from "../../../skills/check/sarif-log.ts";
import { usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory });
const lockText = (): string => readFileSync(project.at("skills-lock.json"), "utf8");
const installed = (): string[] => readdirSync(project.at(".agents", "skills"));

const asking = {
  "SKILL.md": skillText("asks").replace(
    "---\n\n",
    "metadata:\n  acp-skills-secrets: API_KEY\nallowed-tools: Bash(git:*)\n---\n\n",
  ),
};
const two = {
  alpha: { "SKILL.md": skillText("alpha"), "scripts/run.sh": "#!/bin/sh\n" },
  beta: { "SKILL.md": skillText("beta") },
};

test("a named skill is installed and locked with what was shown; adding it again changes nothing", async () => {
  const { origin, publish, asked } = await openPublisher();
  await publish({ ...two, asks: asking });
  const { code, stdout, stderr } = await cli("add", origin, "alpha", "asks", "--yes");
  expect(stderr).toContain("installed alpha");
  expect(stderr).toContain(
    "installing granted nothing; to approve what it requests now: acp-skills approvals grant asks",
  );
  expect(stdout).toContain("permissions   secret API_KEY, the agent's tool Bash(git:*)");
  expect(stdout).toContain("scripts       scripts/run.sh");
  expect(code).toBe(0);
  expect(installed()).toEqual(["alpha", "asks"]);
  expect(asked.filter((path) => path.endsWith("beta.tar.gz"))).toEqual([]);
  const { skills } = JSON.parse(lockText()) as { skills: Record<string, Record<string, unknown>> };
  expect(Object.keys(skills["alpha"] ?? {})).toEqual([
    ...["source", "sourceUrl", "sourceType", "computedHash", "wellKnownDigest", "version", "digest", "files"],
  ]);
  const before = lockText();
  const again = await cli("add", origin, "alpha", "--yes");
  expect(again).toMatchObject({ code: 0, stdout: "", stderr: "acp-skills: 0 installed, 0 refused, 1 unchanged\n" });
  expect(lockText()).toBe(before);
  expect(await cli("verify")).toMatchObject({ code: 0, stdout: "ok       alpha\nok       asks\n" });
});

test("shows what agents run by themselves, and the advice that the project keeps, of these bytes or of others", async () => {
  const { origin, publish } = await openPublisher();
  const text = `${skillText("alpha")}\nThe branch: !\`git branch\`\n`;
  await publish({ alpha: { "SKILL.md": text }, beta: two.beta });
  const sha256 = createHash("sha256").update(text).digest("hex");
  const found = { uri: "upstream/alpha/SKILL.md", text: "Runs git.", line: 9 };
  const log = sarifLog([
    { ...found, sha256 },
    { ...found, text: "Was worse.", uri: "alpha/SKILL.md", sha256: "0".repeat(64) },
  ]);
  project.write(".agents/advice/scan.sarif", JSON.stringify(log));
  project.write(".agents/advice/bad.sarif", "{");
  const { code, stdout, stderr } = await cli("add", origin, "--all", "--yes");
  expect(code).toBe(0);
  expect(stdout).toContain('  runs itself   "git branch"\n');
  expect(stdout).toContain("  warning       SKILL.md:10 dynamic-command: agents that load the skill themselves run");
  expect(stdout).toContain("  Scanner: warning rule-1 SKILL.md:9: Runs git.\n");
  expect(stdout).toContain("  Scanner (of other bytes than these): warning rule-1 SKILL.md:9: Was worse.\n");
  expect(stdout.match(/Scanner/g)).toHaveLength(2);
  expect(stderr).toContain(".agents/advice/bad.sarif: it is not a JSON object");
  expect((await cli("show", "alpha")).stdout).toContain('runs itself    "git branch"\n');
});

test("a source that a policy denies is denied to add, update and discover, and so is what was installed from it", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: two.alpha });
  expect(await cli("add", origin, "--yes")).toMatchObject({ code: 0 });
  expect((await cli("list")).stdout).not.toContain("denied");
  project.write("acp-skills.policy.json", JSON.stringify({ sources: { deny: [origin] } }));
  for (const args of [
    ["add", origin, "--yes", "--replace"],
    ["update", "--source", origin],
    ["discover", origin],
  ]) {
    const { code, stderr } = await cli(...args);
    expect([args, code, stderr]).toEqual([args, 3, expect.stringContaining(`denies the source ${origin}`) as string]);
  }
  expect((await cli("policy", "explain", "alpha")).stdout).toMatch(/^the source .*denied +sources\.deny has/m);
  expect((await cli("list")).stdout).toMatch(/^alpha .* denied/m);
});

test("what is added, updated and removed is in the ledger, with the flags that protect nothing", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: two.alpha });
  await cli("add", origin, "--yes");
  await publish({ alpha: { "SKILL.md": `${two.alpha["SKILL.md"]}More.\n` } });
  expect((await cli("update", "--yes", "--source", origin)).stderr).toContain("updated alpha");
  await publish({ alpha: two.alpha });
  await cli("add", origin, "--yes", "--replace", "--discard-changes");
  await cli("remove", "alpha", "--discard-changes");
  const { uses } = JSON.parse((await cli("ledger", "--json")).stdout) as { uses: Record<string, unknown>[] };
  const digest = expect.stringMatching(/^sha256:/) as string;
  const row = { skill: "alpha", project: project.directory, caller: expect.any(String) as string, digest };
  expect(uses).toMatchObject([
    { ...row, event: "add", about: `from ${origin}/` },
    { ...row, event: "update", about: expect.stringMatching(/^updated: .*, from /) as string },
    { ...row, event: "add", about: `from ${origin}/ --replace --discard-changes` },
    { ...row, event: "remove", about: expect.stringMatching(/ --discard-changes$/) as string },
  ]);
});

test("without a terminal nothing is installed unless --yes says so; --dry-run only shows", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: two.alpha });
  const refused = await cli("add", origin);
  expect(refused).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("add --yes. Nothing was changed.") as string,
  });
  const dry = await cli("add", origin, "--dry-run", "--json");
  expect(dry.code).toBe(0);
  expect(JSON.parse(dry.stdout)).toMatchObject({
    dry_run: true,
    skills: [{ slug: "alpha", action: "install", done: false }],
  });
  expect(readdirSync(project.directory)).toEqual([]);
});

test("of several skills the person says which, or --all; an unknown name gets the nearest", async () => {
  const { origin, publish } = await openPublisher();
  await publish(two);
  const listed = await cli("add", origin, "--yes");
  expect(listed).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/offers 2 skills.*\n.* {2}alpha\n.* {2}beta\n/) as string,
  });
  const wrong = await cli("add", origin, "alpa", "--yes");
  expect(wrong).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("does not offer alpa; did you mean alpha?") as string,
  });
  expect((await cli("add", origin, "pdf-tables")).stderr).toContain(
    "does not offer pdf-tables; it offers alpha, beta\n",
  );
  const json = await cli("add", origin, "--yes", "--json");
  expect(JSON.parse(json.stdout)).toEqual({
    schemaVersion: 1,
    source: `${origin}/`,
    dry_run: false,
    skills: [],
    refused: [],
    offered: ["alpha", "beta"],
  });
  expect(readdirSync(project.directory)).toEqual([]);
  expect((await cli("add", origin, "--all", "--yes")).code).toBe(0);
  expect(installed()).toEqual(["alpha", "beta"]);
});

test("a directory that is not ours, or differs by case only, is refused; --replace replaces the first", async () => {
  const { origin, publish } = await openPublisher();
  await publish(two);
  project.write(".agents/skills/alpha/SKILL.md", "mine");
  project.write(".agents/skills/BETA/SKILL.md", "mine");
  const { code, stderr } = await cli("add", origin, "--all", "--yes");
  expect(code).toBe(3);
  expect(stderr).toContain("alpha cannot be installed: it exists here and is not in the lock; --replace replaces it");
  expect(stderr).toContain("BETA exists, which differs by case only");
  expect(readFileSync(project.at(".agents/skills/alpha/SKILL.md"), "utf8")).toBe("mine");
  expect((await cli("add", origin, "alpha", "--yes", "--discard-changes")).code).toBe(3);
  expect((await cli("add", origin, "alpha", "--yes", "--replace")).code).toBe(0);
  expect(readFileSync(project.at(".agents/skills/alpha/SKILL.md"), "utf8")).toContain("name: alpha");
});

test("packages in a skill count for its lock, also for one that only has the hash of the skills package", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: { ...two.alpha, "node_modules/x/index.js": "1", ".env.example": "A=\n" } });
  expect((await cli("add", origin, "alpha", "--yes")).code).toBe(0);
  expect(await cli("verify")).toMatchObject({ code: 0, stdout: "ok       alpha\n" });
  const again = await cli("add", origin, "alpha", "--yes");
  expect(again).toMatchObject({ code: 0, stderr: "acp-skills: 0 installed, 0 refused, 1 unchanged\n" });
  project.write(".agents/skills/alpha/node_modules/x/index.js", "2");
  const changed = await cli("verify");
  expect(changed).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("changed: node_modules/x/index.js") as string,
  });
  const lock = JSON.parse(lockText()) as { skills: Record<string, Record<string, unknown>> };
  const ours = ["digest", "files"];
  const foreign = Object.fromEntries(Object.entries(lock.skills["alpha"] ?? {}).filter(([key]) => !ours.includes(key)));
  project.write("skills-lock.json", JSON.stringify({ ...lock, skills: { alpha: foreign } }));
  expect(await cli("verify")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("added: node_modules/x/index.js") as string,
  });
});

test("verify names a file whose name no skill may have, and goes on", async () => {
  const { origin, publish } = await openPublisher();
  await publish(two);
  expect((await cli("add", origin, "--all", "--yes")).code).toBe(0);
  project.write(".agents/skills/alpha/scripts/a\u0007b", "");
  const { code, stdout } = await cli("verify");
  expect(code).toBe(1);
  expect(stdout).toContain("changed  alpha\n");
  expect(stdout).toContain("does not fit the lock: digest");
  expect(stdout).toContain("ok       beta\n");
});

test.each(["con", "nul", "com1"])("a skill named %s, which is a device on Windows, is refused", async (name) => {
  const { origin, publish } = await openPublisher();
  await publish({ [name]: { "SKILL.md": skillText(name) } });
  const { code, stderr } = await cli("add", origin, "--all", "--yes");
  expect(code).toBe(3);
  expect(stderr).toContain("which is a device on Windows");
  expect(readdirSync(project.directory)).toEqual([]);
});

test("local changes and another source are refused, each with its own option; the rest of the call is installed", async () => {
  const [first, second] = [await openPublisher(), await openPublisher()];
  await first.publish({ alpha: two.alpha });
  await second.publish(two);
  await cli("add", first.origin, "--yes");
  const other = await cli("add", second.origin, "--all", "--yes");
  expect(other.code).toBe(3);
  expect(other.stderr).toContain(
    `alpha cannot be installed: it is installed from ${first.origin}/; --replace replaces`,
  );
  expect(other.stderr).toContain("1 installed, 1 refused, 0 unchanged");
  expect(installed()).toEqual(["alpha", "beta"]);
  project.write(".agents/skills/alpha/SKILL.md", "edited");
  project.write(".agents/skills/alpha/notes.md", "mine");
  const changed = await cli("add", first.origin, "--yes");
  expect(changed).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("local changes (changed: SKILL.md; added: notes.md;") as string,
  });
  expect((await cli("add", first.origin, "--yes", "--replace")).code).toBe(3);
  expect((await cli("add", second.origin, "alpha", "--yes", "--replace")).stderr).toContain(
    "--discard-changes replaces",
  );
  expect((await cli("add", first.origin, "--yes", "--discard-changes")).code).toBe(0);
  expect(await cli("verify")).toMatchObject({ code: 0, stdout: "ok       alpha\nok       beta\n" });
});

test.each([
  ["edited", '{\n  "version": 1,\n  "skills": {,}\n}', "skills-lock.json:3:14: expected a key in quotes"],
  [
    "of a newer version",
    '{"version": 2, "skills": {}}',
    "version 2 of the lock cannot be read, only 1. Update acp-skills.",
  ],
  ["in conflict", "<<<<<<< HEAD\n", "skills-lock.json:1:1: a merge conflict"],
])(
  "a lock that is %s stops every command before anything is asked, and stays as it is",
  async (_what, text, message) => {
    const { origin, publish, asked } = await openPublisher();
    await publish(two);
    writeFileSync(project.at("skills-lock.json"), text);
    for (const args of [["add", origin, "alpha", "--yes"], ["remove", "alpha"], ["update"], ["outdated"], ["verify"]])
      expect(await cli(...args)).toMatchObject({ code: 3, stderr: expect.stringContaining(message) as string });
    expect(asked).toEqual([]);
    expect(readdirSync(project.directory)).toEqual(["skills-lock.json"]);
    expect(lockText()).toBe(text);
  },
);

const long = { "SKILL.md": skillText("long", "x".repeat(1_100)) };
const extra = { "SKILL.md": skillText("extra").replace("---\n\n", "category: tools\n---\n\n") };

test("what an agent would be offered is installed with its problems reported; --level spec refuses it", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ long, extra, empty: { "SKILL.md": "no frontmatter" }, alpha: two.alpha });
  const strict = await cli("add", origin, "--all", "--yes", "--level", "spec");
  expect(strict.code).toBe(3);
  expect(strict.stderr).toContain(
    "long cannot be installed: acp-skills check --level spec reports description-too-long: ",
  );
  expect(strict.stderr).toContain(
    "extra cannot be installed: acp-skills check --level spec reports field-unexpected: ",
  );
  expect(strict.stderr).toContain("1 installed, 3 refused, 0 unchanged");
  expect(installed()).toEqual(["alpha"]);
  const { code, stdout, stderr } = await cli("add", origin, "--all", "--yes");
  expect(code).toBe(3);
  expect(stdout).toContain("SKILL.md:3 description-too-long: ");
  expect(stdout).toContain("SKILL.md:4 field-unexpected: ");
  expect(stderr).toContain("empty cannot be installed: no agent can use it:");
  expect(stderr).toContain("2 installed, 1 refused, 1 unchanged");
  expect(installed()).toEqual(["alpha", "extra", "long"]);
  expect((await cli("verify")).code).toBe(0);
});

test("each is installed under the name that its source gives it, as many as have one name in their files", async () => {
  const { origin, publish } = await openPublisher();
  await publish({
    maps: { "SKILL.md": skillText("maps") },
    "other-maps": { "SKILL.md": skillText("maps", "Another skill of that name.") },
  });
  const added = await cli("add", origin, "--all", "--yes");
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("2 installed, 0 refused") as string });
  expect(added.stderr).toContain("installed other-maps");
  expect(installed()).toEqual(["maps", "other-maps"]);
  const { skills } = JSON.parse(lockText()) as { skills: object };
  expect(Object.keys(skills)).toEqual(["maps", "other-maps"]);
  await publish({ "other-maps": { "SKILL.md": skillText("maps", "Newer. Use when maps are asked for.") } });
  const updated = await cli("update", "other-maps", "--yes", "--allow-private", "127.0.0.1");
  expect(updated).toMatchObject({ code: 0, stderr: expect.stringContaining("updated other-maps") as string });
  expect((await cli("verify")).code).toBe(0);
});

test("a skill whose own files give it an unrelated name is asked about: --yes does not answer that", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ helper: { "SKILL.md": skillText("deploy") }, alpha: two.alpha });
  const refused = await cli("add", origin, "--all", "--yes");
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain(
    "helper cannot be installed: its own files name it deploy, and agents are offered it as deploy; --yes does not",
  );
  expect(installed()).toEqual(["alpha"]);
  const asked = await cli("add", origin, "helper");
  expect(asked.stdout).toContain("helper 0.0.0");
  expect(asked.stderr).toContain("which agents are offered under another name (helper as deploy),");
  expect(asked.code).toBe(3);
});

test("the token of a capability URL is not in the lock, and update needs it again", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: two.alpha }, "/s/T0ken_x-1/");
  const added = await cli("add", `${origin}/s/T0ken_x-1/`, "--yes");
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("update needs --source URL") as string });
  expect(lockText() + added.stdout + added.stderr).not.toContain("T0ken");
  await publish({ alpha: { "SKILL.md": skillText("alpha", "Newer. Use when alpha is asked for.") } }, "/s/T0ken_x-1/");
  const without = await cli("outdated", "--allow-private", "127.0.0.1");
  expect(without).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`give the whole URL of ${origin}/s/…/ with --source`) as string,
  });
  expect((await cli("update", "--yes")).code).toBe(3);
  const found = await cli("update", "--yes", "--source", `${origin}/s/T0ken_x-1/`);
  expect(found).toMatchObject({ code: 0, stderr: expect.stringContaining("updated alpha") as string });
  expect(lockText()).not.toContain("T0ken");
});

test("a link out of the project is never followed", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: two.alpha });
  const elsewhere = project.at("elsewhere");
  mkdirSync(elsewhere);
  mkdirSync(project.at("in"));
  symlinkSync("../elsewhere", project.at("in", ".agents"));
  const { code, stderr } = await runCli(["add", origin, "--yes"], { cwd: project.at("in") });
  expect(code).toBe(3);
  expect(stderr).toContain("is a symlink out of the project");
  expect(readdirSync(elsewhere)).toEqual([]);
});

test("--global installs for the person, in the global lock of the skills package", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: two.alpha });
  mkdirSync(project.at("work"));
  const run = (...args: string[]): Promise<CliRun> =>
    runCli(args, { cwd: project.at("work"), env: { HOME: project.directory } });
  expect((await run("add", origin, "--global", "--yes")).code).toBe(0);
  expect(readdirSync(project.at("work"))).toEqual([]);
  const lock = JSON.parse(readFileSync(project.at(".agents/.skill-lock.json"), "utf8")) as Record<string, unknown>;
  expect(lock).toMatchObject({
    version: 3,
    skills: {
      alpha: {
        sourceType: "well-known",
        skillFolderHash: "",
        sourceBaseUrl: `${origin}/`,
        sourceUrl: expect.stringContaining("alpha.tar.gz") as string,
      },
    },
  });
  expect(await run("verify", "--global")).toMatchObject({ code: 0, stdout: "ok       alpha\n" });
  expect((await run("remove", "alpha", "-g")).code).toBe(0);
  expect(installed()).toEqual([]);
});
