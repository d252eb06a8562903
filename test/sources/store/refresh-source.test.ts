import { chmodSync, existsSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { SkillsError } from "../../../src/base/errors.ts";
import { sourceLimits } from "../../../src/sources/store/refresh-source.ts";
import { copyPath, sourcePaths } from "../../../src/sources/store/store-paths.ts";
import { fakeSource, fileOf, isDown, listed, openStore, skillFiles, source } from "./open-store.ts";

describe("a look at a source", () => {
  test("copies each skill to the place of its digest, and links it under its name", async () => {
    const { look, bodies, state, paths } = openStore();
    await look(fakeSource("alpha", "beta"));
    expect(bodies()).toEqual({ alpha: "version 1", beta: "version 1" });
    const [alpha] = state().skills;
    expect(alpha).toMatchObject({ name: "alpha", slug: "alpha" });
    const link = path.join(sourcePaths(paths, source).skills, "alpha");
    expect(path.resolve(readlinkSync(link))).toBe(copyPath(paths, alpha!));
    expect(state()).toMatchObject({ label: source.label, lastGood: 1_000, failures: 0, problems: [] });
  });

  test("lets only this user enter, and nobody write into a copy", async () => {
    const { look, state, paths } = openStore();
    await look(fakeSource("alpha"));
    const place = copyPath(paths, state().skills[0]!);
    const modeOf = (file: string): number => statSync(file).mode & 0o777;
    for (const directory of [...Object.values<string>({ ...paths }), place, path.dirname(place)])
      expect(modeOf(directory)).toBe(0o700);
    expect(modeOf(path.join(place, "SKILL.md"))).toBe(0o400);
    expect(modeOf(sourcePaths(paths, source).state)).toBe(0o600);
  });

  test("asks only whether anything changed, if that can be known", async () => {
    const { look, bodies } = openStore();
    const fake = fakeSource("alpha");
    fake.index = { etags: { "https://skills.example/index": '"1"' } };
    await look(fake);
    fake.isUnchanged = true;
    await look(fake);
    expect(fake.asked).toEqual(["index", "alpha 1", "index"]);
    expect(fake.seen).toEqual([undefined, { etags: { "https://skills.example/index": '"1"' } }]);
    expect(bodies()).toEqual({ alpha: "version 1" });
  });

  test("downloads only what changed", async () => {
    const { look, bodies } = openStore();
    const fake = fakeSource("alpha", "beta");
    await look(fake);
    fake.skills = [listed("alpha", "1"), listed("beta", "2")];
    await look(fake);
    expect(fake.asked).toEqual(["index", "alpha 1", "beta 1", "index", "beta 2"]);
    expect(bodies()).toEqual({ alpha: "version 1", beta: "version 2" });
  });

  test("a new version replaces its copy when it was out long enough, as seen from here", async () => {
    const day = 24 * 60 * 60 * 1_000;
    let time = 1_000;
    const { look, bodies, state } = openStore(undefined, () => time, 3);
    const fake = fakeSource("alpha", "beta");
    await look(fake);
    fake.skills = [listed("alpha", "2"), listed("beta", "1")];
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 1", beta: "version 1" });
    expect(state().problems).toEqual([
      '"alpha": a newer version is held back until 1970-01-04 00:00 UTC: the policy takes no version younger than 3 days (minimumAge)',
    ]);
    time += 2 * day;
    fake.skills = [listed("alpha", "3"), listed("beta", "1")];
    await look(fake);
    time += 2 * day;
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 1", beta: "version 1" });
    time += day;
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 3", beta: "version 1" });
    expect(state().problems).toEqual([]);
    // What a registry says counts at once.
    fake.skills = [listed("alpha", "4", { publishedAt: time - 3 * day }), listed("beta", "2")];
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 4", beta: "version 1" });
  });

  test("downloads again what its index gives no digest of, because only the bytes show that", async () => {
    const { look, bodies } = openStore();
    const content = { type: "skill-md", url: "https://skills.example/alpha" } as const;
    const fake = fakeSource();
    fake.index = { etags: { "https://skills.example/index": '"1"' } };
    fake.skills = [listed("alpha", "1", { content })];
    fake.isUnchanged = true;
    await look(fake);
    fake.files.set("alpha 1", skillFiles("alpha", "edited"));
    await look(fake);
    expect(fake.seen).toEqual([undefined, undefined]);
    expect(bodies()).toEqual({ alpha: "edited" });
  });

  test("removes what is no longer listed", async () => {
    const { look, bodies } = openStore();
    await look(fakeSource("alpha", "beta"));
    await look(fakeSource("beta"));
    expect(bodies()).toEqual({ beta: "version 1" });
    await look(fakeSource());
    expect(bodies()).toEqual({});
  });

  test("removes nothing if a part of the source could not be read", async () => {
    const { look, bodies, state } = openStore();
    await look(fakeSource("alpha", "beta"));
    const fake = fakeSource();
    fake.skills = [listed("beta", "2")];
    fake.index = { isPartial: true, problems: ["the first page: 503"], etags: { a: "b" } };
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 1", beta: "version 2" });
    expect(state().etags).toBeUndefined();
  });

  test("changes nothing if the source cannot be read", async () => {
    const { look, bodies, state } = openStore();
    await look(fakeSource("alpha"));
    const before = state();
    const fake = fakeSource();
    fake.skills = isDown;
    await expect(look(fake)).rejects.toBe(isDown);
    expect(bodies()).toEqual({ alpha: "version 1" });
    expect(state()).toEqual(before);
  });
});

describe("a skill that cannot be downloaded", () => {
  test("keeps its old version, is reported, and is tried again although nothing changes", async () => {
    const { look, bodies, state } = openStore();
    const fake = fakeSource("alpha", "beta");
    await look(fake);
    const wrong = new SkillsError("SOURCE_INVALID", "The skill has the digest sha256:1, not sha256:2.");
    fake.files.set("alpha 2", wrong);
    fake.index = { etags: { a: "b" }, commit: "0a".repeat(20) };
    fake.skills = [listed("alpha", "2"), listed("beta", "2")];
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 1", beta: "version 2" });
    expect(state().problems).toEqual([
      '"alpha": The skill has the digest sha256:1, not sha256:2; the copy of before stays in use',
    ]);
    expect(state().etags).toBeUndefined();
    expect(state().commit).toBeUndefined();
    fake.files.delete("alpha 2");
    fake.isUnchanged = true;
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 2", beta: "version 2" });
  });

  test("is left out if there is no old version", async () => {
    const { look, bodies, state } = openStore();
    const fake = fakeSource("alpha", "beta");
    fake.files.set("alpha 1", new SkillsError("ENDPOINT_UNREACHABLE", "skills.example: 500"));
    await look(fake);
    expect(bodies()).toEqual({ beta: "version 1" });
    expect(state().problems).toEqual(['"alpha": skills.example: 500']);
  });

  test.each([
    ["leads out of its directory", [fileOf("SKILL.md", "a"), fileOf("../../escaped", "b")]],
    ["is absolute", [fileOf("/SKILL.md", "a"), fileOf("x/../../../escaped", "b")]],
    ["is a file and a directory", [fileOf("SKILL.md", "a"), fileOf("SKILL.md/b", "b")]],
    ["occurs twice", [fileOf("SKILL.md", "a"), fileOf("SKILL.md", "b")]],
  ])("a path that %s is refused, and nothing of it stays", async (_what, files) => {
    const { look, bodies, state, paths } = openStore();
    const fake = fakeSource("alpha");
    fake.files.set("alpha 1", files);
    await look(fake);
    expect(bodies()).toEqual({});
    expect(state().problems).toMatchObject([expect.stringContaining("cannot be stored")]);
    expect(readdirSync(paths.incoming)).toEqual([]);
    expect(readdirSync(paths.store)).toEqual([]);
    expect(existsSync(path.join(paths.incoming, "..", "escaped"))).toBe(false);
  });

  test("that the index itself calls unusable is reported once", async () => {
    const { look, state } = openStore();
    const fake = fakeSource("beta");
    const content = { type: "unusable", why: "it has no files" } as const;
    fake.skills = [listed("alpha", "1", { content }), listed("beta", "1")];
    fake.index = { problems: ["alpha: it has no files"] };
    const { skills } = await look(fake);
    expect(skills.map(({ name }) => name)).toEqual(["beta"]);
    expect(state().problems).toEqual(["alpha: it has no files"]);
  });
});

describe("what a copy contains", () => {
  test("no hidden files, which are neither served nor part of its digest", async () => {
    const { look, state, paths } = openStore();
    const fake = fakeSource("alpha");
    const hidden = [fileOf(".env", "x"), fileOf(".git/config", "x"), fileOf("a/__pycache__/b.pyc", "x")];
    fake.files.set("alpha 1", [...skillFiles("alpha"), fileOf("a/b.txt", "b"), ...hidden]);
    await look(fake);
    expect(readdirSync(copyPath(paths, state().skills[0]!), { recursive: true }).sort()).toEqual([
      "SKILL.md",
      "a",
      "a/b.txt",
    ]);
  });

  test("executable files stay executable", async () => {
    const { look, state, paths } = openStore();
    const fake = fakeSource("alpha");
    fake.files.set("alpha 1", [...skillFiles("alpha"), { ...fileOf("run.sh", "x"), executable: true }]);
    await look(fake);
    expect(statSync(path.join(copyPath(paths, state().skills[0]!), "run.sh")).mode & 0o777).toBe(0o500);
  });

  test("is named as the skill names itself, not as its index does", async () => {
    const { look, bodies } = openStore();
    const fake = fakeSource();
    fake.skills = [listed("Universal Translator", "1")];
    fake.files.set("Universal Translator 1", skillFiles("translate"));
    await look(fake);
    expect(Object.keys(bodies())).toEqual(["translate"]);
  });

  test("of two skills of one name the first in the index stays, and the other is reported", async () => {
    const { look, bodies, state } = openStore();
    const fake = fakeSource();
    fake.skills = [listed("one", "1"), listed("two", "1")];
    fake.files.set("one 1", skillFiles("same", "of one"));
    fake.files.set("two 1", skillFiles("same", "of two"));
    await look(fake);
    expect(bodies()).toEqual({ same: "of one" });
    expect(state().problems).toEqual(['"two": it is named same, as "one" is; it is left out']);
  });

  test("that was changed on disk is downloaded again", async () => {
    const { look, bodies, state, paths } = openStore();
    const fake = fakeSource("alpha");
    fake.index = { etags: { a: "b" } };
    await look(fake);
    const file = path.join(copyPath(paths, state().skills[0]!), "SKILL.md");
    chmodSync(file, 0o600);
    writeFileSync(file, readFileSync(file, "utf8").replace("version 1", "tampered"));
    fake.isUnchanged = true;
    await look(fake);
    expect(bodies()).toEqual({ alpha: "version 1" });
    expect(readdirSync(paths.trash)).toEqual([]);
  });

  test("the commit, if the source is that repository", async () => {
    const { look, state } = openStore();
    const commit = "0a".repeat(20);
    const git = (repository: string) => ({ content: { type: "git", repository, commit, directory: "x" } as const });
    const fake = fakeSource();
    fake.skills = [
      listed("own", "1", git("https://skills.example/acme.git")),
      listed("other", "1", git("https://skills.example/other")),
    ];
    await look(fake);
    expect(state().skills.map(({ name, commit: from }) => [name, from])).toEqual([
      ["other", undefined],
      ["own", commit],
    ]);
  });
});

describe("limits", () => {
  test("of the number of skills: the rest is left out and counted", async () => {
    const { look, state } = openStore();
    const fake = fakeSource();
    const content = { type: "unusable", why: "x" } as const;
    const many = Array.from({ length: sourceLimits.skills }, (_, number) => listed(`s${number}`, "1", { content }));
    fake.skills = [...many, listed("last", "1"), listed("more", "1")];
    fake.index = { problems: ["x"] };
    await look(fake);
    expect(state()).toMatchObject({
      skills: [],
      problems: ["x", `It lists 10002 skills; the last 2 are left out: the limit is 10000`],
    });
  });

  test("of the bytes of all sources together", async () => {
    const { look, state } = openStore();
    await look(fakeSource("alpha"), { otherBytes: sourceLimits.bytes });
    expect(state().problems).toEqual(['"alpha": all sources together may have 2 GiB']);
  });

  test("of the problems that are stored", async () => {
    const { look, state } = openStore();
    const fake = fakeSource();
    fake.index = { problems: Array.from({ length: 60 }, (_, number) => `problem ${number}`) };
    await look(fake);
    expect(state().problems).toHaveLength(51);
    expect(state().problems.at(-1)).toBe("… and 10 more problems");
  });
});

test("a look that is aborted keeps what was copied until then, and goes on next time", async () => {
  const { look, bodies } = openStore();
  const names = Array.from({ length: 150 }, (_, number) => `s${String(number).padStart(3, "0")}`);
  const fake = fakeSource(...names);
  const abort = new AbortController();
  const { openReader } = fake;
  const failing = {
    ...fake,
    openReader: async () => {
      const reader = await openReader();
      return {
        ...reader,
        skillFiles: (...given: Parameters<typeof reader.skillFiles>) => {
          if (given[0].name === "s120") abort.abort(new Error("closed"));
          return reader.skillFiles(...given);
        },
      };
    },
  };
  await expect(look(failing, { signal: abort.signal })).rejects.toThrow("closed");
  expect(Object.keys(bodies())).toHaveLength(100);
  fake.asked.length = 0;
  await look(fake);
  expect(Object.keys(bodies())).toHaveLength(150);
  expect(fake.asked).toHaveLength(51);
});
