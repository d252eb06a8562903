import { expect, test } from "vitest";
import { createMadeOfSkills, recheckMs } from "../../../src/serve/publish/made-of-skills.ts";
import type { Publication, PublishedSkill } from "../../../src/serve/publish/publication.ts";
import type { SkillBytes } from "../../../src/skills/files.ts";
import { memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import { manualClock } from "../../manual-clock.ts";

const everybody = { view: "everybody", mayHave: () => true };

function publish(...slugs: readonly string[]): Publication {
  const skills = slugs.map(
    (slug): PublishedSkill => ({ skill: { slug, directory: `/${slug}`, file: `/${slug}/SKILL.md` } }) as PublishedSkill,
  );
  return { skills, bySlug: new Map(skills.map((published) => [published.skill.slug, published])) };
}

/** Makes lists of the paths and contents of skills in memory. */
function open(given: Readonly<Record<string, string>>, wrap: (bytes: SkillBytes) => SkillBytes = (bytes) => bytes) {
  const files = memorySkillFiles(given);
  const clock = manualClock();
  const logged: string[] = [];
  const made: string[] = [];
  const lists = createMadeOfSkills(
    {
      source: { files, bytes: wrap(memorySkillBytes(files)) },
      clock,
      log: (level, message) => void logged.push(`${level} ${message}`),
    },
    "list",
    function* (entries, { skill: { slug } }) {
      made.push(slug);
      yield;
      return { text: entries.map(({ path, bytes }) => `${path}: ${Buffer.from(bytes).toString()}`).join(", ") };
    },
  );
  return { lists, files, clock, logged, made };
}

test("makes something of each skill's files, SKILL.md first, and nothing before it is asked for", async () => {
  const { lists, made } = open({ "/a/SKILL.md": "A", "/a/LICENSE": "free", "/b/SKILL.md": "B" });
  expect(made).toEqual([]);
  const all = await lists.ofAll(publish("a", "b"), everybody);
  expect([...all]).toEqual([
    ["a", { text: "SKILL.md: A, LICENSE: free" }],
    ["b", { text: "SKILL.md: B" }],
  ]);
});

test("makes again only what changed, and gives the same map where nothing did", async () => {
  const { lists, files, clock, made } = open({ "/a/SKILL.md": "A", "/a/run.sh": "1", "/b/SKILL.md": "B" });
  const published = publish("a", "b");
  const first = await lists.ofAll(published, everybody);
  // Two skills are read at a time: which one is made first depends on how busy the machine is.
  expect(made.splice(0).toSorted()).toEqual(["a", "b"]);
  clock.pass(recheckMs);
  expect(await lists.ofAll(published, everybody)).toBe(first);
  files.write("/a/run.sh", "2");
  expect(await lists.ofAll(published, everybody)).toBe(first);
  clock.pass(recheckMs);
  const second = await lists.ofAll(published, everybody);
  expect(second.get("a")).toEqual({ text: "SKILL.md: A, run.sh: 2" });
  expect(second.get("b")).toBe(first.get("b"));
  expect(made).toEqual(["a"]);
});

test("reads nothing that the audience may not have", async () => {
  const { lists, made } = open({ "/a/SKILL.md": "A", "/b/SKILL.md": "B" });
  const all = await lists.ofAll(publish("a", "b"), { view: "b", mayHave: ({ skill }) => skill.slug === "b" });
  expect([...all.keys()]).toEqual(["b"]);
  expect(made).toEqual(["b"]);
});

test("requests at the same time share the work", async () => {
  const { lists, made } = open({ "/a/SKILL.md": "A", "/b/SKILL.md": "B" });
  const published = publish("a", "b");
  const [one, other] = await Promise.all([lists.ofAll(published, everybody), lists.ofAll(published, everybody)]);
  expect(one).toBe(other);
  expect(made.toSorted()).toEqual(["a", "b"]);
});

test("never puts a part of one version beside a part of another", async () => {
  let edit = (): void => undefined;
  const { lists, files } = open({ "/a/SKILL.md": "1", "/a/b.txt": "1" }, (bytes) => ({
    ...bytes,
    head(file, limit) {
      const part = bytes.head(file, limit);
      if (file === "/a/SKILL.md") edit();
      return part;
    },
  }));
  let version = 1;
  const editBoth = (): void => {
    version += 1;
    files.write("/a/SKILL.md", String(version));
    files.write("/a/b.txt", String(version));
  };
  edit = () => {
    edit = () => undefined;
    editBoth();
  };
  const [published] = publish("a").skills;
  expect(await lists.of(published!)).toEqual({ text: "SKILL.md: 2, b.txt: 2" });
  edit = editBoth;
  expect(await lists.again(published!)).toEqual({ why: "is being changed" });
});

test("leaves out what cannot be handed out, and says so once", async () => {
  const { lists, files, clock, logged } = open({ "/a/SKILL.md": "A", "/b/other.md": "B", "/c/SKILL.md": "C" });
  files.deny("/c");
  const published = publish("a", "b", "c", "gone");
  expect([...(await lists.ofAll(published, everybody)).keys()]).toEqual(["a"]);
  clock.pass(recheckMs);
  await lists.ofAll(published, everybody);
  // Two skills are read at a time.
  expect(logged.toSorted()).toEqual([
    "warning b gets no list: it has its SKILL.md outside its directory.",
    expect.stringMatching(/^warning c gets no list: it cannot be read: .*permission is denied/),
    "warning gone gets no list: it has moved.",
  ]);
});

test("opens each file of a skill twice, to read it and to see that it stayed the same", async () => {
  const opened: string[] = [];
  const { lists } = open({ "/a/SKILL.md": "A", "/a/b.txt": "B", "/a/c.txt": "C" }, (bytes) => ({
    ...bytes,
    head: (file, limit) => (opened.push(file), bytes.head(file, limit)),
    stamp: (file) => (opened.push(file), bytes.stamp(file)),
  }));
  await lists.ofAll(publish("a"), everybody);
  const files = ["/a/SKILL.md", "/a/b.txt", "/a/c.txt"];
  expect(opened).toEqual([...files, ...files]);
});

test("reads at most the start of a file that is too large for a skill", async () => {
  const limits: number[] = [];
  const { lists, logged } = open({ "/a/SKILL.md": "A", "/a/model.bin": "M" }, (bytes) => ({
    ...bytes,
    head(file, limit) {
      limits.push(limit);
      const part = bytes.head(file, limit);
      return part && (file.endsWith(".bin") ? { ...part, size: 2 ** 32 } : part);
    },
  }));
  expect((await lists.ofAll(publish("a"), everybody)).size).toBe(0);
  expect(Math.max(...limits)).toBeLessThanOrEqual(1024 * 1024);
  expect(logged).toEqual(["warning a gets no list: it has more than 50 MiB of files."]);
});

test("says once of how many skills hidden files are not handed out", async () => {
  const given = { "/a/SKILL.md": "A", "/a/.env": "1", "/b/SKILL.md": "B", "/b/x/.y": "1", "/c/SKILL.md": "C" };
  const { lists, clock, logged } = open(given);
  const published = publish("a", "b", "c");
  await lists.ofAll(published, everybody);
  clock.pass(60_000);
  await lists.ofAll(published, { ...everybody, view: "another" });
  expect(logged).toEqual(["info Hidden files of 2 skills are in no list."]);
});
