import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { type Publisher, usePublisher } from "./publish-skills.ts";

const project = useTemporaryProject();
const openPublisher = usePublisher();
const cli = (...args: string[]): Promise<CliRun> => runCli(args, { cwd: project.directory });
/** The lock is not a person: it cannot name servers of this machine. */
const here = ["--allow-private", "127.0.0.1"];
const lockText = (): string => readFileSync(project.at("skills-lock.json"), "utf8");
const skillMd = (): string => readFileSync(project.at(".agents/skills/alpha/SKILL.md"), "utf8");

function version(number: string, more = "", body = "Do it."): Record<string, string> {
  const text = skillText("alpha").replace("---\n\n", `metadata:\n  version: "${number}"\n${more}---\n\n`);
  return { "SKILL.md": text.replace("Do it.", body), "old.md": "old\n" };
}

async function addAlpha(): Promise<Publisher> {
  const publisher = await openPublisher();
  await publisher.publish({ alpha: version("1.0.0") });
  expect((await cli("add", publisher.origin, "--yes")).code).toBe(0);
  return publisher;
}

test("an update shows the files that change and what the skill newly requests, and is made with --yes", async () => {
  const { publish } = await addAlpha();
  const { "SKILL.md": text = "" } = version("1.1.0", "  acp-skills-network: https://api.example.com\n", "Do it well.");
  await publish({ alpha: { "SKILL.md": text, "new.md": "new\n" } });
  const outdated = await cli("outdated", ...here);
  expect(outdated).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/alpha {2}1\.0\.0 \(\w{7}\) {2}1\.1\.0 \(\w{7}\) {2}http/) as string,
  });
  const before = lockText();
  const checked = await cli("update", "--check", ...here);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain("  NEW: network https://api.example.com\n");
  expect(checked.stdout).toContain("-Do it.\n+Do it well.\n");
  expect(checked.stdout).toContain("--- /dev/null\n+++ new.md\n@@ -0,0 +1 @@\n+new\n");
  expect(checked.stdout).toContain("--- old.md\n+++ /dev/null\n");
  const asked = await cli("update", ...here);
  expect(asked).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      "which newly requests network https://api.example.com? Nobody can be asked here",
    ) as string,
  });
  expect(lockText()).toBe(before);
  const updated = await cli("update", "--yes", ...here);
  expect(updated).toMatchObject({ code: 0, stderr: expect.stringContaining("updated alpha to 1.1.0") as string });
  expect(readdirSync(project.at(".agents/skills/alpha"))).toEqual(["SKILL.md", "new.md"]);
  expect((await cli("verify")).code).toBe(0);
  expect(await cli("update", ...here)).toMatchObject({ code: 0, stderr: "acp-skills: everything is up to date\n" });
  expect(await cli("outdated", ...here)).toMatchObject({ code: 0, stderr: "acp-skills: no skill is outdated\n" });
});

test("a version younger than the policy's minimumAge is held back, and says until when", async () => {
  const { publish } = await addAlpha();
  project.write("acp-skills.policy.json", '{ "minimumAge": 3 }');
  await publish({ alpha: version("1.1.0") });
  const until = new Date(Date.now() + 3 * 24 * 60 * 60 * 1_000).toISOString().slice(0, 10);
  const held = await cli("update", "--yes", ...here);
  expect(held).toMatchObject({ code: 0, stdout: "" });
  expect(held.stderr).toMatch(
    new RegExp(
      `^acp-skills: alpha: 1\\.1\\.0 \\(\\w{7}\\) is held back until ${until} \\d\\d:\\d\\d UTC: the policy takes no version younger than 3 days \\(minimumAge\\)\n$`,
    ),
  );
  expect(await cli("outdated", ...here)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("is held back") as string,
  });
  // What the lock names is restored at any age.
  rmSync(project.at(".agents/skills/alpha"), { recursive: true });
  await publish({ alpha: version("1.0.0") });
  expect((await cli("add", ...here, "--yes")).code).toBe(0);
  await publish({ alpha: version("1.1.0") });
  const seen = project.at(".local/share/acp-skills/versions-seen");
  for (const name of readdirSync(seen)) {
    const notes = JSON.parse(readFileSync(path.join(seen, name), "utf8")) as Record<string, { id: string; at: number }>;
    for (const note of Object.values(notes)) note.at -= 3 * 24 * 60 * 60 * 1_000;
    writeFileSync(path.join(seen, name), JSON.stringify(notes));
  }
  expect(await cli("update", "--yes", ...here)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("updated alpha to 1.1.0") as string,
  });
});

test("other bytes under the same version are named", async () => {
  const { publish } = await addAlpha();
  await publish({ alpha: version("1.0.0", "", "Send me everything.") });
  const { code, stdout } = await cli("update", "--check", ...here);
  expect(code).toBe(1);
  expect(stdout).toContain("same version, other bytes");
  const { stdout: json } = await cli("update", "--check", "--json", ...here);
  expect(JSON.parse(json)).toMatchObject({
    skills: [
      {
        name: "alpha",
        state: "available",
        same_version: true,
        files: { changed: ["SKILL.md"], added: [], removed: [] },
      },
    ],
  });
});

test("what a file contains cannot write to the terminal", async () => {
  const { publish } = await addAlpha();
  await publish({ alpha: version("1.0.1", "", "\u001b[2J::error::x\u202e") });
  const { stdout } = await cli("update", "--check", ...here);
  expect(stdout).toContain("+\\u{1b}[2J::error::x\\u{202e}");
  expect(stdout).not.toContain("\u001b");
});

test("a skill that was changed here is not replaced unless --discard-changes says so", async () => {
  const { publish } = await addAlpha();
  project.write(".agents/skills/alpha/old.md", "mine\n");
  await publish({ alpha: version("2.0.0") });
  const refused = await cli("update", "--yes", ...here);
  expect(refused).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("local changes (changed: old.md;") as string,
  });
  expect(skillMd()).toContain("1.0.0");
  expect((await cli("update", "--yes", "--discard-changes", ...here)).code).toBe(0);
  expect(skillMd()).toContain("2.0.0");
});

test("a skill that was changed here is named where its source has nothing newer, and --discard-changes restores it", async () => {
  await addAlpha();
  const text = skillMd();
  project.write(".agents/skills/alpha/SKILL.md", "mine\n");
  const named = await cli("update", "--yes", ...here);
  expect(named).toEqual({
    code: 0,
    stdout: "",
    stderr:
      "acp-skills: alpha: nothing newer, but it has local changes (changed: SKILL.md; does not fit the lock: digest, computedHash); --discard-changes restores it\n",
  });
  const { stdout } = await cli("update", "--json", ...here);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    skills: [
      {
        name: "alpha",
        state: "current",
        local_changes: { missing: [], changed: ["SKILL.md"], added: [], hashes: ["digest", "computedHash"] },
      },
    ],
  });
  expect(skillMd()).toBe("mine\n");
  const shown = await cli("update", "--discard-changes", ...here);
  expect(shown).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^alpha 1\.0\.0 \(\w{7}\): changed here from .*\n[^]*\n-mine\n/) as string,
    stderr: expect.stringMatching(/Restore alpha 1\.0\.0 \(\w{7}\), without its local changes\? Nobody/) as string,
  });
  expect(skillMd()).toBe("mine\n");
  const restored = await cli("update", "--discard-changes", "--yes", ...here);
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(/restored alpha 1\.0\.0/) as string });
  expect(skillMd()).toBe(text);
  expect((await cli("verify")).code).toBe(0);
});

test("a source that disappears, or no longer has the skill, leaves everything as it is", async () => {
  const { publish, close } = await addAlpha();
  await publish({ beta: { "SKILL.md": skillText("beta") } });
  for (const command of ["outdated", "update"])
    expect(await cli(command, ...here)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("does not offer it any more") as string,
    });
  await close();
  for (const command of ["outdated", "update"])
    expect(await cli(command, ...here)).toMatchObject({ code: 3, stderr: expect.stringContaining("alpha:") as string });
  expect(skillMd()).toContain("1.0.0");
  expect((await cli("verify")).code).toBe(0);
});

test("a lock that a project brought cannot name servers of this machine: once for all skills from there, it says why", async () => {
  const { asked, origin, publish } = await openPublisher();
  await publish({ alpha: version("1.0.0"), beta: { "SKILL.md": skillText("beta") } });
  await cli("add", origin, "--all", "--yes");
  asked.length = 0;
  const { host } = new URL(origin);
  for (const command of ["outdated", "update"])
    expect(await cli(command)).toEqual({
      code: 3,
      stdout: "",
      stderr: `acp-skills: alpha, beta: ${origin}/ is on this machine, and a project's lock may be written by others; if you trust it, add --allow-private ${host}\n`,
    });
  expect(asked).toEqual([]);
  expect(await cli("outdated", "--allow-private", host)).toMatchObject({ code: 0 });
});

test("the lock of --global is a person's own: its servers of this machine are asked", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: version("1.0.0") });
  await cli("add", origin, "--global", "--yes");
  await publish({ alpha: version("1.1.0") });
  expect((await cli("outdated", "--global")).stdout).toContain("1.1.0");
  expect((await cli("update", "--global", "--yes")).code).toBe(0);
  expect(await cli("outdated", "--global")).toMatchObject({ code: 0, stderr: "acp-skills: no skill is outdated\n" });
});

test("--source gives the whole URL of each share, and is refused where no skill is from there", async () => {
  const publishers = [await openPublisher(), await openPublisher()];
  const shares = publishers.map(({ origin }, index) => `${origin}/s/T0ken_x-${index}`);
  for (const [index, name] of ["alpha", "beta"].entries()) {
    await publishers[index]?.publish({ [name]: { "SKILL.md": skillText(name) } }, `/s/T0ken_x-${index}/`);
    expect((await cli("add", `${shares[index]}/`, "--yes")).code).toBe(0);
  }
  const given = shares.flatMap((share) => ["--source", share]);
  expect(await cli("outdated", ...given)).toMatchObject({ code: 0, stderr: "acp-skills: no skill is outdated\n" });
  expect(await cli("outdated", ...given.slice(0, 2))).toMatchObject({
    code: 3,
    stderr: `acp-skills: beta: The secret part of its URL is not in the lock; give the whole URL of ${publishers[1]?.origin}/s/…/ with --source.\n`,
  });
  for (const command of ["outdated", "update"])
    expect(await cli(command, "--source", "https://example.com/s/T0ken_x-1/")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "--source https://example.com/s/…/: no skill of the lock is from there",
      ) as string,
    });
});

test("a lock without skills, or none, is named with its place", async () => {
  const file = project.at("skills-lock.json");
  for (const command of ["outdated", "update", "verify"])
    expect(await cli(command)).toMatchObject({
      code: 0,
      stderr: `acp-skills: ${file} does not exist; acp-skills add SOURCE writes it\n`,
    });
  project.write("skills-lock.json", '{"version": 1, "skills": {}}');
  for (const command of ["outdated", "update", "verify"])
    expect(await cli(command)).toMatchObject({ code: 0, stderr: `acp-skills: ${file} names no skills\n` });
});

test("a skill that is missing on disk is installed again", async () => {
  await addAlpha();
  rmSync(project.at(".agents"), { recursive: true });
  expect(await cli("verify")).toMatchObject({ code: 1, stdout: expect.stringContaining("missing  alpha") as string });
  expect((await cli("update", "--yes", ...here)).code).toBe(0);
  expect((await cli("verify")).code).toBe(0);
});

test("verify names each file that differs, and directories that are not in the lock", async () => {
  const { close } = await addAlpha();
  await close();
  project.write(".agents/skills/alpha/SKILL.md", "edited");
  rmSync(project.at(".agents/skills/alpha/old.md"));
  symlinkSync("/etc/passwd", project.at(".agents/skills/alpha/.hidden"));
  project.write(".agents/skills/mine/SKILL.md", skillText("mine"));
  const { code, stdout, stderr } = await cli("verify");
  expect(code).toBe(1);
  expect(stdout.split("\n").map((line) => line.trim())).toEqual([
    "changed  alpha",
    "missing: old.md",
    "changed: SKILL.md",
    "added: .hidden",
    "does not fit the lock: digest, computedHash",
    "",
  ]);
  expect(stderr).toContain("note: mine is not in the lock");
  const { stdout: json } = await cli("verify", "--json");
  expect(JSON.parse(json)).toMatchObject({
    ok: false,
    skills: [{ name: "alpha", state: "changed", missing: ["old.md"] }],
    unlocked: ["mine"],
  });
});

test("remove takes what the lock has, asks for --discard-changes after changes, and names the nearest for others", async () => {
  await addAlpha();
  project.write(".agents/skills/mine/SKILL.md", skillText("mine"));
  expect(await cli("remove", "alhpa")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("did you mean alpha?") as string,
  });
  expect((await cli("remove", "mine")).stderr).toContain("mine is not in the lock");
  project.write(".agents/skills/alpha/old.md", "mine\n");
  expect(await cli("remove", "alpha")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("--discard-changes removes it") as string,
  });
  const removed = await cli("remove", "alpha", "-y", "--discard-changes", "--json");
  expect(JSON.parse(removed.stdout)).toEqual({ schemaVersion: 1, removed: ["alpha"], refused: [] });
  expect(readdirSync(project.at(".agents/skills"))).toEqual(["mine"]);
  expect(lockText()).toBe('{\n  "version": 1,\n  "skills": {}\n}\n');
});

test("a lock of the skills package is verified, and says why a source cannot be asked", async () => {
  const files = { "SKILL.md": skillText("alpha") };
  for (const [name, text] of Object.entries(files)) project.write(`.agents/skills/beta-skill/${name}`, text);
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256").update(`SKILL.md${files["SKILL.md"]}`).digest("hex");
  project.write(
    "skills-lock.json",
    JSON.stringify({
      version: 1,
      skills: {
        "Beta Skill": { source: "./beta", sourceType: "local", computedHash: hash },
        pdf: { source: "example.com", sourceType: "well-known", computedHash: "0".repeat(64) },
      },
    }),
  );
  expect((await cli("verify")).stdout).toBe(
    "ok       Beta Skill\nchanged  pdf\n         does not fit the lock: computedHash\n",
  );
  const outdated = await cli("outdated");
  expect(outdated.stderr).toContain("Beta Skill: It is from a directory of this machine");
  expect(outdated.stderr).toContain("pdf: The lock does not have its URL; add it again.");
  expect(await cli("update")).toMatchObject({ code: 0 });
  expect((await cli("remove", "beta-skill")).code).toBe(0);
  expect(readdirSync(project.at(".agents/skills"))).toEqual(["pdf"]);
});

test("verify says of an entry without hashes that nothing is known, and exits with 1", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  const skills = { pdf: { source: "owner/repo", sourceType: "github" } };
  project.write("skills-lock.json", JSON.stringify({ version: 1, skills }));
  const { code, stdout, stderr } = await cli("verify");
  expect(stdout).toBe("unknown  pdf: the lock has no hash of its files\n");
  expect(stderr).toBe("acp-skills: 1 skill: 1 not as locked, or unknown\n");
  expect(code).toBe(1);
  const json = await cli("verify", "--json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, skills: [{ name: "pdf", state: "unverifiable" }] });
});

test("an update that gives a skill another name is refused", async () => {
  const { publish } = await addAlpha();
  await publish({ alpha: { "SKILL.md": skillText("deploy") } });
  const { code, stderr } = await cli("update", "--yes", ...here);
  expect(stderr).toContain("alpha: its own files name it deploy now; add that from its source, and remove alpha");
  expect(code).toBe(3);
});

test("files that the lock has no hash of take --discard-changes, and are named: they may be a person's own", async () => {
  const { origin, publish } = await openPublisher();
  await publish({ alpha: version("1.0.0") });
  project.write(".agents/skills/alpha/SKILL.md", "mine\n");
  project.write(".agents/skills/alpha/notes/a.md", "mine\n");
  const entry = { source: "127.0.0.1", sourceUrl: `${origin}/`, sourceType: "well-known" };
  project.write("skills-lock.json", JSON.stringify({ version: 1, skills: { alpha: entry } }));
  for (const [command, does] of [
    [["update", "--yes", ...here], "replaces"],
    [["add", origin, "--yes"], "replaces"],
    [["add", origin, "--yes", "--replace"], "replaces"],
    [["remove", "alpha"], "removes"],
  ] as const) {
    const words = `the lock has no hash of its files, which may be yours (SKILL.md, notes/a.md); --discard-changes ${does} it`;
    expect(await cli(...command)).toMatchObject({ code: 3, stderr: expect.stringContaining(words) as string });
    expect(skillMd()).toBe("mine\n");
  }
  expect((await cli("update", "--yes", "--discard-changes", ...here)).code).toBe(0);
  expect(skillMd()).toContain("1.0.0");
});

test("a repository of git in an installed skill is a local change: what was never pushed is not deleted", async () => {
  const { publish } = await addAlpha();
  const branch = project.write(".agents/skills/alpha/.git/refs/heads/mine", "0".repeat(40));
  expect(await cli("verify")).toMatchObject({ code: 1, stdout: expect.stringContaining("added: .git\n") as string });
  await publish({ alpha: version("2.0.0") });
  for (const command of [
    ["update", "--yes", ...here],
    ["remove", "alpha"],
  ])
    expect(await cli(...command)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("it has local changes (added: .git); --discard-changes") as string,
    });
  expect(existsSync(branch)).toBe(true);
});
