import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import { type CatalogOptions, Catalog } from "../../../src/skills/skillset/catalog.ts";
import { memorySkillFiles } from "../files/memory-skill-files.ts";
import { memoryWatcher } from "./watch/memory-watcher.ts";
import { openNativeWatcher } from "../../../src/skills/skillset/native-watcher.ts";
import type { SkillFiles } from "../../../src/skills/files.ts";
import type { Change } from "../../../src/skills/skill.ts";
import { diskTree } from "../../contract/disk-tree.ts";
import { listed, skillText, until } from "../../contract/skill-watcher.ts";
import { manualClock } from "../../manual-clock.ts";

function open(options: Partial<CatalogOptions> & Pick<CatalogOptions, "files">) {
  const clock = manualClock();
  const logged: string[] = [];
  const catalog = new Catalog({
    roots: [{ path: "/s", origin: "explicit" }],
    clock,
    log: (_level, message) => logged.push(message),
    ...options,
  });
  const changes: Change[] = [];
  catalog.onChange((_snapshot, change) => changes.push(change));
  return { catalog, clock, logged, changes };
}
const skill = (name: string, description = "Does."): Record<string, string> => ({
  [`/s/${name}/SKILL.md`]: skillText(name, description),
});
/** Lets a scan that has started finish. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("catalog", () => {
  it("does not notify listeners of the first snapshot", async () => {
    const { catalog, changes } = open({ files: memorySkillFiles(skill("a")) });
    const first = await catalog.ready;
    expect(listed(first)).toEqual({ a: "Does." });
    expect(catalog.snapshot).toBe(first);
    expect(changes).toEqual([]);
  });

  it("lists explicit and user roots in ownRoots, even without skills, but no project roots", async () => {
    const roots = [
      { path: "/empty", origin: "explicit" },
      { path: "/work/.agents/skills", origin: "project" },
      { path: "/home/.agents/skills", origin: "user" },
    ] as const;
    const files = memorySkillFiles();
    files.makeDirectory("/empty");
    const { catalog } = open({ files, roots });
    expect((await catalog.ready).ownRoots).toEqual(["/empty", "/home/.agents/skills"]);
    files.write("/empty/a/SKILL.md", skillText("a", "Does."));
    expect((await catalog.reload()).ownRoots).toEqual(["/empty", "/home/.agents/skills"]);
  });

  /** 50 skills, a second each. */
  function slowSkills(): Pick<CatalogOptions, "files" | "clock"> {
    const disk = memorySkillFiles(
      Object.assign({}, ...Array.from({ length: 50 }, (_, at) => skill(`s${at}`))) as never,
    );
    const clock = manualClock();
    const list: SkillFiles["list"] = (directory) => (clock.pass(1_000), disk.list(directory));
    return { files: { ...disk, list }, clock };
  }

  it("reads everything at once for a listing, however long it takes", async () => {
    const { catalog } = open({ ...slowSkills(), slice: Infinity });
    const { skills, problems } = await catalog.ready;
    expect({ skills: skills.length, problems }).toEqual({ skills: 50, problems: [] });
  });

  it("goes on reading a root that takes longer than 20 s, and says how far it is", async () => {
    const { catalog } = open(slowSkills());
    const problems = (): string[] => catalog.snapshot.problems.map(({ message }) => message);
    const first = (await catalog.ready).skills.length;
    expect(first).toBeGreaterThan(10);
    expect(first).toBeLessThan(30);
    expect(problems()).toEqual([`reading this directory takes longer than 20 s; ${first} skills are read so far`]);
    for (let turns = 0; turns < 100 && problems().length > 0; turns++) await turn();
    expect(catalog.snapshot.skills).toHaveLength(50);
    expect(problems()).toEqual([]);
  });

  it("does not read a root again and again of which time is too short for anything more", async () => {
    const disk = memorySkillFiles(
      Object.assign({}, ...Array.from({ length: 50 }, (_, at) => skill(`s${at}`))) as never,
    );
    const clock = manualClock();
    let looks = 0;
    const files: SkillFiles = { ...disk, resolve: (target) => (looks++, clock.pass(30_000), disk.resolve(target)) };
    const { catalog } = open({ files, clock });
    expect((await catalog.ready).problems).toMatchObject([{ code: "not-read-in-time" }]);
    for (let turns = 0; turns < 50; turns++) await turn();
    const before = looks;
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(looks).toBe(before);
    expect(looks).toBeLessThan(5);
  });

  it("retries with backoff after running out of file descriptors", async () => {
    const disk = memorySkillFiles(skill("a"));
    let refusal: string | undefined = "EMFILE";
    let lists = 0;
    const refuse = (): void => {
      if (refusal === undefined) return;
      const cause = Object.assign(new Error(refusal), { code: refusal });
      throw new SkillsError("UNREADABLE", `/s cannot be read: ${refusal}.`, { cause });
    };
    const files: SkillFiles = {
      ...disk,
      list(directory) {
        lists += 1;
        refuse();
        return disk.list(directory);
      },
    };
    const { catalog, clock, changes } = open({ files });
    expect(listed(await catalog.ready)).toEqual({});
    expect(catalog.snapshot.problems).toMatchObject([{ code: "unreadable" }]);
    for (const wait of [250, 500, 1_000]) {
      clock.pass(wait - 1);
      await turn();
      const before = lists;
      clock.pass(1);
      await turn();
      expect(lists).toBe(before + 1);
    }
    refusal = undefined;
    clock.pass(2_000);
    await turn();
    expect(listed(catalog.snapshot)).toEqual({ a: "Does." });
    expect([catalog.snapshot.problems, changes.length, clock.pending]).toEqual([[], 1, 0]);
    refusal = "EACCES";
    await catalog.reload();
    expect(clock.pending).toBe(0);
    refusal = "ENFILE";
    await catalog.reload();
    expect(clock.pending).toBe(1);
    await catalog.close();
    expect(clock.pending).toBe(0);
  });

  it("finds a skill by its slug and its canonical name", async () => {
    const { catalog } = open({
      files: memorySkillFiles({
        ...skill("sync"),
        "/s/sync/skill.toml": 'name = "sales.sync"\nversion = "1.0.0"\ndescription = "Syncs."\nkind = "instruction"\n',
      }),
    });
    await catalog.ready;
    expect(catalog.find("sales-sync")?.skill.version).toBe("1.0.0");
    expect(catalog.find("sales.sync")).toBe(catalog.find("sales-sync"));
    expect(catalog.find("sync")).toBeUndefined();
    expect(catalog.find("constructor")).toBeUndefined();
  });

  it("clears the missing entrypoint problem when the file is created in an existing directory", async () => {
    const manifest = 'name = "a"\nversion = "1.0.0"\ndescription = "Runs."\nkind = "action"\n';
    const files = memorySkillFiles({
      ...skill("a"),
      "/s/a/skill.toml": `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n`,
      "/s/a/code/other.py": "",
    });
    const watcher = memoryWatcher();
    files.onTouch((directory, name) => watcher.touch(directory, name));
    const { catalog, clock } = open({ files, openWatcher: watcher.open });
    expect((await catalog.ready).problems.map(({ code }) => code)).toEqual(["manifest-entrypoint-missing"]);
    files.write("/s/a/code/main.py", "");
    clock.pass(60);
    await turn();
    expect(catalog.snapshot.problems).toEqual([]);
  });

  it("reload notifies once of a change and returns the identical snapshot when nothing changed", async () => {
    const files = memorySkillFiles({ ...skill("a"), ...skill("b") });
    const { catalog, changes } = open({ files });
    const first = await catalog.ready;
    expect(await catalog.reload()).toBe(first);
    files.write("/s/a/SKILL.md", skillText("a", "Other."));
    files.remove("/s/b");
    const second = await catalog.reload();
    expect(listed(second)).toEqual({ a: "Other." });
    expect(listed(first)).toEqual({ a: "Does.", b: "Does." });
    expect(changes).toHaveLength(1);
    expect(changes[0]?.changed.map(({ after }) => after.skill.slug)).toEqual(["a"]);
    expect(changes[0]?.removed.map(({ skill: { slug } }) => slug)).toEqual(["b"]);
  });

  it("notifies listeners when only the problems changed", async () => {
    const files = memorySkillFiles(skill("a"));
    const { catalog, changes } = open({ files });
    await catalog.ready;
    files.write("/s/b/SKILL.md", "nothing");
    expect((await catalog.reload()).problems.map(({ code }) => code)).toEqual(["frontmatter-missing"]);
    expect(changes).toEqual([{ added: [], removed: [], changed: [] }]);
  });

  it("keeps the previous snapshot while scanning fails, logs the failure once, and recovers", async () => {
    const files = memorySkillFiles(skill("a"));
    let broken = false;
    const list: typeof files.list = (directory) => {
      if (broken) throw new TypeError("a bug");
      return files.list(directory);
    };
    const { catalog, logged, changes } = open({ files: { ...files, list } });
    const first = await catalog.ready;
    broken = true;
    expect(await catalog.reload()).toBe(first);
    expect(await catalog.reload()).toBe(first);
    expect(logged).toEqual(["Reading the skills failed; the previous list stays in use: a bug"]);
    broken = false;
    files.write("/s/b/SKILL.md", skillText("b", "New."));
    expect(listed(await catalog.reload())).toEqual({ a: "Does.", b: "New." });
    expect(changes).toHaveLength(1);
  });

  it("becomes ready with a problem when nothing can be read", async () => {
    const list = (): never => {
      throw new TypeError("a bug");
    };
    const { catalog } = open({ files: { ...memorySkillFiles({ "/s/x": "" }), list } });
    expect(await catalog.ready).toMatchObject({ skills: [], problems: [{ code: "unreadable", message: "a bug" }] });
    const missing = open({ files: memorySkillFiles() });
    expect(await missing.catalog.ready).toMatchObject({ skills: [], problems: [{ code: "unreadable", file: "/s" }] });
  });

  it("debounces a burst of edits into one update, and logs that watches ran out", async () => {
    const files = memorySkillFiles();
    for (let index = 0; index < 200; index++) files.write(`/s/s${index}/SKILL.md`, skillText(`s${index}`, "Does."));
    const watcher = memoryWatcher();
    files.onTouch((directory, name) => watcher.touch(directory, name));
    const { catalog, clock, changes, logged } = open({ files, openWatcher: watcher.open });
    await catalog.ready;
    for (let index = 0; index < 200; index++) {
      files.write(`/s/s${index}/SKILL.md`, skillText(`s${index}`, "Checked out."));
      clock.pass(1);
    }
    await turn();
    expect(changes).toHaveLength(0);
    clock.pass(60);
    await turn();
    expect(changes.map(({ changed }) => changed.length)).toEqual([200]);
    watcher.degrade("no watches left");
    expect(logged).toEqual(["no watches left"]);
  });

  it("debounces a burst of added, changed and removed skills into one update", async () => {
    const files = memorySkillFiles(skill("gone"));
    for (let index = 0; index < 20; index++) files.write(`/s/s${index}/SKILL.md`, skillText(`s${index}`, "Does."));
    const watcher = memoryWatcher();
    files.onTouch((directory, name) => watcher.touch(directory, name));
    const { catalog, clock, changes } = open({ files, openWatcher: watcher.open });
    await catalog.ready;
    files.remove("/s/gone");
    for (let index = 0; index < 20; index++) files.write(`/s/s${index}/SKILL.md`, skillText(`s${index}`, "New."));
    files.write("/s/come/SKILL.md", skillText("come", "Does."));
    clock.pass(60);
    await turn();
    clock.pass(1000);
    await turn();
    expect(changes.map(({ added, changed, removed }) => [added.length, changed.length, removed.length])).toEqual([
      [1, 20, 1],
    ]);
    files.remove("/s/come");
    clock.pass(8);
    await turn();
    expect(catalog.find("come")).toBeDefined();
    clock.pass(40);
    await turn();
    expect(catalog.find("come")).toBeUndefined();
  });

  it("removes a skill only after it was missing for 40 ms", async () => {
    const files = memorySkillFiles({ ...skill("a"), ...skill("b") });
    const watcher = memoryWatcher();
    files.onTouch((directory, name) => watcher.touch(directory, name));
    const read: string[] = [];
    const list: typeof files.list = (directory) => {
      read.push(directory);
      return files.list(directory);
    };
    const { catalog, clock, changes } = open({ files: { ...files, list }, openWatcher: watcher.open });
    await catalog.ready;
    read.length = 0;
    files.remove("/s/a");
    clock.pass(8);
    await turn();
    expect(listed(catalog.snapshot)).toEqual({ a: "Does.", b: "Does." });
    clock.pass(40);
    await turn();
    expect(listed(catalog.snapshot)).toEqual({ b: "Does." });
    expect(read).toEqual(["/s", "/s/a", "/s"]);
    expect(changes).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("does not notify listeners after close, and keeps the last snapshot readable", async () => {
    const files = memorySkillFiles(skill("a"));
    const watcher = memoryWatcher();
    files.onTouch((directory, name) => watcher.touch(directory, name));
    const { catalog, clock, changes } = open({ files, openWatcher: watcher.open });
    await catalog.ready;
    files.write("/s/a/SKILL.md", skillText("a", "Late."));
    await catalog.close();
    await catalog.close();
    clock.pass(1000);
    await turn();
    expect(changes).toEqual([]);
    expect(watcher.isClosed).toBe(true);
    expect(listed(catalog.snapshot)).toEqual({ a: "Does." });
    expect(clock.pending).toBe(0);
  });

  it("does not notify a listener that unsubscribed", async () => {
    const files = memorySkillFiles(skill("a"));
    const { catalog } = open({ files });
    let told = 0;
    const leave = catalog.onChange(() => told++);
    await catalog.ready;
    leave();
    files.remove("/s/a");
    await catalog.reload();
    expect(told).toBe(0);
  });

  it("follows git checkouts with few updates", async () => {
    const tree = diskTree(openNativeWatcher);
    const git = (...words: string[]): void => {
      const identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
      execFileSync("git", [...identity, ...words], { cwd: tree.root, stdio: "ignore" });
    };
    const names = Array.from({ length: 150 }, (_, index) => `s${index}`);
    const save = (description: string): void => {
      for (const name of names) tree.write(`skills/${name}/SKILL.md`, skillText(name, description));
    };
    const all = (description: string): Record<string, string> =>
      Object.fromEntries(names.map((name) => [name, description]));
    git("init", "-b", "one");
    save("one");
    git("add", ".");
    git("commit", "-m", "one");
    git("checkout", "-b", "two");
    save("two");
    git("commit", "-a", "-m", "two");
    const catalog = new Catalog({
      roots: [{ path: `${tree.root}/skills`, origin: "project" }],
      files: tree.files,
      openWatcher: openNativeWatcher,
      clock: systemClock,
      log: () => undefined,
    });
    await catalog.ready;
    let updates = 0;
    catalog.onChange(() => updates++);
    git("checkout", "one");
    await until(catalog, all("one"));
    git("checkout", "two");
    await until(catalog, all("two"));
    expect(updates).toBeLessThan(names.length / 5);
    await catalog.close();
    await tree.close();
  });
});
