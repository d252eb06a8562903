import { expect, test } from "vitest";
import { readOptions } from "../../src/runtime/options.ts";
import { memoryWatcher } from "./skillset/watch/memory-watcher.ts";
import { openNativeWatcher } from "../../src/skills/skillset/native-watcher.ts";
import type { Skill, Snapshot } from "../../src/skills/skill.ts";
import { type OpenRoots, type Skillset, declaresSame, openSkillset, rootsOnDisk } from "../../src/skills/skillset.ts";
import { diskTree } from "../contract/disk-tree.ts";
import { loadManifestReader, needsManifestReader, readDirectory } from "../../src/skills/skillset/read-directory.ts";
import { memorySkillFiles } from "./files/memory-skill-files.ts";

const nothing: Snapshot = { skills: [], problems: [] };

interface Opened {
  readonly skillset: Skillset;
  /** The roots of each opened catalog. */
  readonly opened: (readonly string[])[];
  readonly closed: () => number;
  readonly logged: string[];
}

function open(closing: () => Promise<void> = () => Promise.resolve()): Opened {
  const opened: (readonly string[])[] = [];
  const logged: string[] = [];
  let closed = 0;
  const openRoots: OpenRoots = (roots) => {
    opened.push(roots.map(({ path }) => path));
    return {
      snapshot: nothing,
      ready: Promise.resolve(nothing),
      onChange: () => () => undefined,
      find: () => undefined,
      close() {
        closed += 1;
        return closing();
      },
    };
  };
  const settings = readOptions({ log: (_level: string, text: string) => logged.push(text) }, { home: "/home" });
  return { skillset: openSkillset(settings, openRoots), opened, closed: () => closed, logged };
}

test("searches the directories of the session and the home directory", () => {
  const { skillset, opened } = open();
  skillset.openSession({ cwd: "/project", additionalDirectories: ["/more"] });
  expect(opened).toEqual([
    [
      "/project/.agents/skills",
      "/project/.claude/skills",
      "/more/.agents/skills",
      "/more/.claude/skills",
      "/home/.agents/skills",
      "/home/.claude/skills",
    ],
  ]);
});

test("sessions with equal roots share a catalog that closes with the last of them", () => {
  const { skillset, opened, closed } = open();
  const first = skillset.openSession({ cwd: "/project" });
  const second = skillset.openSession({ cwd: "/project" });
  expect(opened).toHaveLength(1);
  expect(second.catalog).toBe(first.catalog);
  first.close();
  first.close();
  expect(closed()).toBe(0);
  second.close();
  expect(closed()).toBe(1);
  skillset.openSession({ cwd: "/project" });
  expect(opened).toHaveLength(2);
});

test("sessions with different roots have separate catalogs", () => {
  const { skillset, opened } = open();
  skillset.openSession({ cwd: "/a" });
  skillset.openSession({ cwd: "/b" });
  expect(opened).toHaveLength(2);
});

test("reports a relative directory and searches the others", () => {
  const { skillset, opened } = open();
  const { problems } = skillset.openSession({ cwd: "project" });
  expect(problems).toEqual([expect.stringContaining('"project" is not an absolute path')]);
  expect(opened[0]).toContain("/home/.agents/skills");
});

test("closing the skillset closes every catalog", async () => {
  const { skillset, closed } = open();
  skillset.openSession({ cwd: "/a" });
  skillset.openSession({ cwd: "/b" });
  await skillset.close();
  expect(closed()).toBe(2);
});

test("logs an error from closing a catalog", async () => {
  const { skillset, logged } = open(() => Promise.reject(new Error("stuck")));
  skillset.openSession({ cwd: "/a" }).close();
  await new Promise(setImmediate);
  expect(logged).toEqual([expect.stringContaining("stuck")]);
});

test("when watches run out, logs it once and polls for all sessions with one watcher", async () => {
  const tree = diskTree(openNativeWatcher);
  const fallback = memoryWatcher();
  const logged: string[] = [];
  let opened = 0;
  const settings = readOptions({ log: (_level: string, text: string) => logged.push(text) }, { home: tree.root });
  const skillset = openSkillset(
    settings,
    rootsOnDisk({
      watchDirectory() {
        throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      },
      openFallback(...events) {
        opened++;
        return fallback.open(...events);
      },
    }),
  );
  const projects = ["a", "b", "c"].map((name) => `${tree.root}/${name}`);
  const sessions = projects.map((cwd) => skillset.openSession({ cwd }));
  await Promise.all(sessions.map(({ catalog }) => catalog.ready));
  expect(logged).toEqual([expect.stringContaining("no file watches left")]);
  expect(opened).toBe(1);
  for (const project of projects) expect(fallback.watched).toContain(`${project}/.agents/skills`);
  await skillset.close();
  expect(fallback.isClosed).toBe(true);
  await tree.close();
});

type Files = Readonly<Record<string, string>>;

const skillMd = '---\nname: deploy\ndescription: Deploys.\nallowed-tools: ["Bash(git:*)"]\n---\nDeploy.\n';
const manifest = (host: string) =>
  `name = "deploy"\nversion = "1.0.0"\ndescription = "Deploys."\nkind = "action"\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n[permissions]\nnetwork = ["https://${host}"]\n`;

async function skillOf(files: Files): Promise<Skill> {
  await loadManifestReader();
  const memory = memorySkillFiles(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`/s/${path}`, text])),
  );
  const record = readDirectory("/s", "s", { files: memory });
  const skill = record === needsManifestReader ? undefined : record?.skill;
  if (skill === undefined) throw new Error("The skill is invalid.");
  return skill;
}

const reading = (files: Files) => (path: string) =>
  files[path] === undefined ? undefined : new TextEncoder().encode(files[path]);

const both = { "SKILL.md": skillMd, "skill.toml": manifest("api.example") };

const only = (text: string): Files => ({ "SKILL.md": text });
const long = skillMd.replace("allowed-tools", `notes: ${"x".repeat(5_000)}\nallowed-tools`);

test.each<[string, Files, Files, boolean]>([
  ["the same files", both, both, true],
  ["other instructions that declare the same", both, { ...both, "SKILL.md": `${skillMd}More.\n` }, true],
  ["another host", both, { ...both, "skill.toml": manifest("evil.example") }, false],
  ["another entrypoint", both, { ...both, "skill.toml": both["skill.toml"].replace("main", "test") }, false],
  ["other tools", { "SKILL.md": skillMd }, { "SKILL.md": skillMd.replace("git", "rm") }, false],
  ["a manifest that is not a file of the skill", both, { "SKILL.md": skillMd }, false],
  ["instructions that are not a file of the skill", both, { "skill.toml": both["skill.toml"] }, false],
  ["a manifest that it did not have", { "SKILL.md": skillMd }, both, false],
  [
    "frontmatter that declares the same in other words",
    only(skillMd),
    only(skillMd.replace("Deploys.", "Ships.")),
    true,
  ],
  ["the same frontmatter after a byte order mark", only(skillMd), only(`\ufeff${skillMd}`), true],
  ["frontmatter in another language", only(skillMd), only(skillMd.replace("---", "---js")), false],
  ["permissions after the fence", only(skillMd), only(`${skillMd}metadata:\n  acp-skills-project: write\n---\n`), true],
  [
    "permissions before the fence",
    only(skillMd),
    only(skillMd.replace("---\nD", "metadata:\n  acp-skills-project: write\n---\nD")),
    false,
  ],
  ["tools after a long frontmatter", only(long), only(long.replace("git", "rm")), false],
  ["the same long frontmatter", only(long), only(long), true],
  ["invalid instructions", { "SKILL.md": skillMd }, { "SKILL.md": "---\n" }, false],
])("%s", async (_what, before, now, same) => {
  expect(await declaresSame(await skillOf(before), reading(now))).toBe(same);
});
