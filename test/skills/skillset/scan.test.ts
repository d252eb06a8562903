import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { SkillsError } from "../../../src/base/errors.ts";
import { type MemorySkillFiles, memorySkillFiles } from "../files/memory-skill-files.ts";
import type { ScanResult } from "../../../src/skills/skillset/scan/scan-memory.ts";
import { Scan, type ScanOptions } from "../../../src/skills/skillset/scan.ts";
import { runInSlices } from "../../../src/base/promises.ts";
import { diskTree } from "../../contract/disk-tree.ts";
import { skillText } from "../../contract/skill-watcher.ts";

const now = (): number => 0;

function run(scan: Scan): Promise<ScanResult> {
  return runInSlices(scan.run(), { now, slice: Infinity });
}
async function find(files: MemorySkillFiles, options: Partial<ScanOptions> = {}): Promise<ScanResult> {
  return run(new Scan({ roots: [{ path: "/s", origin: "explicit" }], files, ...options }));
}
/** The path of each skill directory, with its roots. */
function places(found: ScanResult): string[] {
  return found.skills.map(({ record, roots }) => `${record.path} ${roots.map((root) => root.path).join(",")}`);
}
function codes(found: ScanResult): string[] {
  const own = found.skills.flatMap(({ record }) => record.findings);
  return [...found.findings, ...own].map(({ code, file }) => `${code} ${file}`);
}
function tree(...skills: string[]): MemorySkillFiles {
  return memorySkillFiles(
    Object.fromEntries(skills.map((file) => [file, skillText(nameOf(file), "It does a thing.")])),
  );
}
/** The expected name of the skill in a file. */
function nameOf(file: string): string {
  return file.split("/").at(-2) ?? "";
}

describe("scan", () => {
  it("finds skills in directories and inside other skills, sorted by path", async () => {
    const files = tree("/s/b/SKILL.md", "/s/a/SKILL.md", "/s/a/inner/SKILL.md", "/s/1/2/3/4/5/six/SKILL.md");
    const found = await find(files);
    expect(places(found)).toEqual(["/s/1/2/3/4/5/six /s", "/s/a /s", "/s/a/inner /s", "/s/b /s"]);
    expect(codes(found)).toEqual([]);
  });

  it("offers a skill with a missing entrypoint or a foreign skill.toml, and reports both", async () => {
    const action = 'version = "1.0.0"\ndescription = "Runs."\nkind = "action"\n\n[runtime]\nlanguage = "python"\n';
    const files = memorySkillFiles({
      "/s/a/SKILL.md": skillText("a", "Runs."),
      "/s/a/skill.toml": `name = "a"\n${action}entrypoint = "code/main.py"\n`,
      "/s/b/SKILL.md": skillText("b", "Runs."),
      "/s/b/skill.toml": `name = "b"\n${action}entrypoint = "main.py"\n`,
      "/s/b/main.py": "",
      "/s/c/SKILL.md": skillText("c", "Is read."),
      "/s/c/skill.toml": '[skill]\nname = "other"\n',
    });
    const found = await find(files);
    expect(found.skills.map(({ record }) => record.skill?.kind)).toEqual(["action", "action", "instruction"]);
    expect(codes(found)).toEqual(["manifest-entrypoint-missing /s/a/skill.toml", "manifest-foreign /s/c/skill.toml"]);
    const [finding] = found.skills[0]?.record.findings ?? [];
    expect(finding).toMatchObject({ line: 8, column: 14 });
  });

  it.each([
    ["beside SKILL.md", "a\nb.md"],
    ["in a directory", "scripts/a\u0007.sh"],
    ["in a directory of a directory", "scripts/x/a\\b"],
    ["in packages", "node_modules/x/a\uff0fb.js"],
    ["in an ignored directory", "build/\udcff"],
    ["in an empty directory", "a\u2028b/c/.keep"],
  ])("reports a skill with an invalid name %s, and refuses it", async (_where, name) => {
    const files = tree("/s/a/SKILL.md", "/s/b/SKILL.md", "/s/b/inner/SKILL.md");
    files.write("/s/b/.gitignore", "build/\n");
    files.write(`/s/b/${name}`, "");
    files.write("/s/a/.git/a\nb", "");
    const found = await find(files);
    expect(codes(found)).toEqual(["file-name-invalid /s/b/SKILL.md"]);
    expect(found.skills.map(({ record }) => record.skill?.slug)).toEqual(["a", undefined, "inner"]);
  });

  it("offers a skill again when its invalid name is gone", async () => {
    const files = tree("/s/a/SKILL.md");
    files.write("/s/a/scripts/a\nb", "");
    const scan = new Scan({ roots: [{ path: "/s", origin: "explicit" }], files });
    files.onTouch((directory, name) => void scan.memory.markStale(directory, name));
    expect(codes(await run(scan))).toEqual(["file-name-invalid /s/a/SKILL.md"]);
    files.remove("/s/a/scripts/a\nb");
    expect(codes(await run(scan))).toEqual([]);
  });

  it("accepts a root that is itself a skill", async () => {
    expect(places(await find(tree("/s/SKILL.md")))).toEqual(["/s /s"]);
  });

  it("reports the number of skills below the depth limit, including nested ones", async () => {
    const deep = "/s/1/2/3/4/5/6/7/8/9/10/11";
    const files = tree(`${deep}/12/SKILL.md`, `${deep}/a/13/SKILL.md`, `${deep}/a/13/14/15/SKILL.md`);
    files.write("/s/1/.gitignore", "*.toml\n");
    files.makeDirectory(`${deep}/b/13/14`);
    const found = await find(files);
    expect(places(found)).toEqual([`${deep}/12 /s`]);
    expect(codes(found)).toEqual([`too-deep ${deep}/a/13/SKILL.md`]);
    expect(found.findings[0]).toMatchObject({ leftOut: 2 });
  });

  it("reports skills ignored by .gitignore, but not by .ignore, and not in other repositories", async () => {
    const files = tree("/s/a/SKILL.md", "/s/out/b/SKILL.md", "/s/out/c/c/SKILL.md", "/s/mine/SKILL.md");
    files.write("/s/.gitignore", "out\n/worktrees\nnothing\n");
    files.write("/s/.ignore", "mine\n");
    files.write("/s/worktrees/x/.git", "gitdir: /elsewhere\n");
    files.write("/s/worktrees/x/d/SKILL.md", skillText("d", "Does."));
    files.makeDirectory("/s/nothing/e");
    files.write("/s/out/node_modules/f/SKILL.md", skillText("f", "Does."));
    const found = await find(files);
    expect(places(found)).toEqual(["/s/a /s"]);
    expect(found.findings).toMatchObject([{ code: "skill-ignored", file: "/s/out/b/SKILL.md", leftOut: 2 }]);
  });

  it("does not report ignored skills that another root contains", async () => {
    const files = tree("/p/.claude/skills/a/SKILL.md", "/p/.claude/commands/b/SKILL.md");
    files.write("/p/.gitignore", ".claude\n");
    const roots = ["/p", "/p/.claude/skills"].map((path) => ({ path, origin: "explicit" }) as const);
    const found = await find(files, { roots });
    expect(found.findings).toMatchObject([{ file: "/p/.claude/commands/b/SKILL.md", leftOut: 1 }]);
  });

  it("updates the ignored skills when .gitignore is created and removed", async () => {
    const files = tree("/s/a/SKILL.md");
    const scan = new Scan({ roots: [{ path: "/s", origin: "explicit" }], files });
    expect(codes(await run(scan))).toEqual([]);
    files.write("/s/.gitignore", "a\n");
    scan.memory.markStale("/s", ".gitignore");
    expect(codes(await run(scan))).toEqual(["skill-ignored /s/a/SKILL.md"]);
    files.remove("/s/.gitignore");
    scan.memory.markStale("/s", ".gitignore");
    expect(codes(await run(scan))).toEqual([]);
  });

  it("searches a limited number of ignored directories and reports where it stopped", async () => {
    const files = tree("/s/a/SKILL.md");
    files.write("/s/.gitignore", "x\n");
    for (const name of ["b", "c", "d"]) files.makeDirectory(`/s/x/${name}`);
    const limits = { depth: 12, directories: 10, insideSkill: 10, unread: 3, durationMs: 1000 };
    expect(codes(await find(files, { limits }))).toEqual(["ignored-unsearched /s/x"]);
  });

  it("prefers SKILL.md to other spellings, reports the unused ones, and accepts a lone other spelling", async () => {
    const files = tree(
      "/s/a/SKILL.md",
      "/s/a/skill.md",
      "/s/a/Skill.md",
      "/s/b/skill.md",
      "/s/c/Skill.md",
      "/s/d/SKILL.MD",
    );
    const found = await find(files);
    expect(found.skills.map(({ record }) => record.skill?.file)).toEqual([
      "/s/a/SKILL.md",
      "/s/b/skill.md",
      "/s/c/Skill.md",
      "/s/d/SKILL.MD",
    ]);
    expect(codes(found).sort()).toEqual([
      "file-name-case /s/c/Skill.md",
      "file-name-case /s/d/SKILL.MD",
      "file-name-lowercase /s/b/skill.md",
      "skill-file-unused /s/a/Skill.md",
      "skill-file-unused /s/a/skill.md",
    ]);
  });

  it("reports a misnamed skill file if it starts with frontmatter, and a skill.toml without SKILL.md", async () => {
    const files = tree("/s/a/SKILLS.md", "/s/b/skill.txt", "/s/c/SKILL.md", "/s/c/skills.md");
    files.write("/s/SKILLS.md", "# Our skills\n\n---\nname: prose\n");
    files.write("/s/d/skill.toml", "");
    const found = await find(files);
    expect(places(found)).toEqual(["/s/c /s"]);
    expect(codes(found).sort()).toEqual([
      "manifest-alone /s/d/skill.toml",
      "skill-file-misnamed /s/a/SKILLS.md",
      "skill-file-misnamed /s/b/skill.txt",
    ]);
  });

  it("gives skills with the same slug and files the same content digest, below any root", async () => {
    const files = tree("/s/x/a/SKILL.md", "/s/y/a/SKILL.md", "/s/z/a/SKILL.md", "/s/b/SKILL.md", "/t/a/SKILL.md");
    for (const place of ["s/x", "s/y", "s/z", "t"]) files.write(`/${place}/a/scripts/run.py`, "print()\n");
    files.write("/s/z/a/scripts/run.py", "import os\n");
    const roots = ["/s", "/t"].map((path) => ({ path, origin: "explicit" }) as const);
    const scan = new Scan({ roots, files });
    const contents = async (): Promise<Map<string, string | undefined>> =>
      new Map((await run(scan)).skills.map(({ record, content }) => [record.path, content]));
    const before = await contents();
    expect(before.get("/s/x/a")).toBeDefined();
    expect(before.get("/s/y/a")).toBe(before.get("/s/x/a"));
    expect(before.get("/s/z/a")).not.toBe(before.get("/s/x/a"));
    expect(before.get("/s/b")).toBeUndefined();
    expect(before.get("/t/a")).toBe(before.get("/s/x/a"));
    files.write("/s/y/a/scripts/run.py", "import sys\n");
    scan.memory.markStale("/s/y/a/scripts", "run.py");
    const after = await contents();
    expect(after.get("/s/y/a")).not.toBe(after.get("/s/x/a"));
    files.write("/s/y/a/scripts/run.py", "print()\n");
    files.write("/s/x/a/large", Buffer.alloc(2 ** 20));
    files.write("/s/y/a/large", Buffer.alloc(2 ** 20));
    scan.memory.markAllStale();
    // Skills too large to compare are not treated as copies.
    expect((await contents()).get("/s/x/a")).toBeUndefined();
  });

  it("skips node_modules, .git and .venv, but not other dot directories", async () => {
    const files = tree(
      "/s/node_modules/a/SKILL.md",
      "/s/.git/b/SKILL.md",
      "/s/.venv/c/SKILL.md",
      "/s/.system/d/SKILL.md",
    );
    expect(places(await find(files))).toEqual(["/s/.system/d /s"]);
  });

  it("applies ignore files, with precedence for deeper files and for .ignore", async () => {
    const files = tree("/s/a/SKILL.md", "/s/b/SKILL.md", "/s/c/d/SKILL.md", "/s/c/e/SKILL.md", "/s/f/SKILL.md");
    files.write("/s/.gitignore", "/a/\nd\nf\n*.md\n");
    files.write("/s/.ignore", "!f/\n");
    files.write("/s/c/.gitignore", "!d\ne\n");
    expect(places(await find(files))).toEqual(["/s/b /s", "/s/c/d /s", "/s/f /s"]);
  });

  it("reports ignore patterns that are not applied, and applies the others", async () => {
    const files = tree("/s/a/SKILL.md", "/s/b/SKILL.md");
    files.write("/s/.gitignore", `a\n# two that are too long\n${"*x".repeat(50)}\n${"x/**/".repeat(50)}y\n`);
    files.write("/s/b/.gitignore", "x\n".repeat(2100));
    files.write("/s/b/.ignore", "x".repeat(70_000));
    const found = await find(files);
    expect(places(found)).toEqual(["/s/b /s"]);
    expect(codes(found).sort()).toEqual([
      "ignore-pattern-excessive /s/.gitignore",
      "ignore-pattern-excessive /s/b/.gitignore",
      "ignore-pattern-excessive /s/b/.ignore",
      "ignore-pattern-excessive /s/b/.ignore",
      "skill-ignored /s/a/SKILL.md",
    ]);
    expect(found.findings[0]).toMatchObject({ line: 3 });
  });

  it("stops reading a root after its time limit, reports it, and reads the other roots", async () => {
    const many = Array.from({ length: 200 }, (_, index) => `/hostile/${index}/SKILL.md`);
    const files = tree(...many, "/s/a/SKILL.md");
    let time = 0;
    const list: MemorySkillFiles["list"] = (directory) => {
      if (directory.startsWith("/hostile/")) time += 1000;
      return files.list(directory);
    };
    const roots = ["/hostile", "/s"].map((path) => ({ path, origin: "project" }) as const);
    const found = await find({ ...files, list }, { roots, now: () => time });
    expect(places(found).at(-1)).toBe("/s/a /s");
    expect(found.skills.length).toBeLessThan(40);
    expect(codes(found)).toEqual(["not-read-in-time /hostile"]);
  });

  it("handles an ignore pattern designed for exponential backtracking", async () => {
    const files = tree(`/s/${"a/".repeat(5)}SKILL.md`, `/s/${"a/".repeat(5)}aa/SKILL.md`);
    files.write("/s/.gitignore", `a/${"**/".repeat(400)}aa\n`);
    expect(places(await find(files))).toEqual([`/s/${"a/".repeat(5)}`.replace(/\/$/, " /s")]);
  });

  it("yields between ignore patterns, so that many patterns do not block the event loop", async () => {
    const files = tree("/s/a/SKILL.md");
    files.write("/s/.gitignore", `${"*a".repeat(30)}b\n`.repeat(900));
    const scan = new Scan({ roots: [{ path: "/s", origin: "explicit" }], files });
    let pauses = 0;
    for (const step of scan.run()) if (step === undefined) pauses++;
    expect(pauses).toBeGreaterThan(900 / 16 - 1);
    expect(places(await run(scan))).toEqual(["/s/a /s"]);
  });

  it("follows symlinks to directories and files, and lists a skill found twice once, with both roots", async () => {
    const files = tree("/s/a/SKILL.md", "/far/b/SKILL.md");
    files.link("/s/b", "/far/b");
    files.link("/s/again", "/s/a");
    files.link("/t/a", "/s/a");
    files.link("/t/c/SKILL.md", "/far/b/SKILL.md");
    const roots = ["/s", "/t"].map((path) => ({ path, origin: "explicit" }) as const);
    const found = await find(files, { roots });
    expect(places(found)).toEqual(["/s/a /s,/t", "/far/b /s,/t"]);
    expect(codes(found)).toEqual([]);
  });

  it("expects the name of the symlink for a symlinked skill", async () => {
    const files = memorySkillFiles({ "/far/checkout/SKILL.md": skillText("pdf", "Reads.") });
    files.link("/s/pdf", "/far/checkout");
    expect(codes(await find(files))).toEqual([]);
  });

  it("reads two roots with the same real path once", async () => {
    const files = tree("/real/a/SKILL.md");
    files.link("/s", "/real");
    files.link("/t", "/real");
    const roots = ["/s", "/t"].map((path) => ({ path, origin: "project" }) as const);
    expect(places(await find(files, { roots }))).toEqual(["/real/a /s,/t"]);
  });

  it("terminates on symlink loops and reports symlinks to a parent directory", async () => {
    const files = tree("/s/a/SKILL.md", "/s/x/y/SKILL.md");
    files.link("/s/a/up", "/s");
    files.link("/s/x/self", "/s/x");
    files.link("/s/above", "/");
    const found = await find(files);
    expect(places(found)).toEqual(["/s/a /s", "/s/x/y /s"]);
    expect(codes(found).sort()).toEqual([
      "directory-loop /s/a/up",
      "directory-loop /s/above",
      "directory-loop /s/x/self",
    ]);
  });

  it("reports each unreadable or invalid skill and keeps the others", async () => {
    const files = tree("/s/good/SKILL.md");
    files.makeDirectory("/s/directory/SKILL.md");
    files.makeOther("/s/fifo/SKILL.md");
    files.link("/s/gone/SKILL.md", "/nowhere");
    files.link("/s/dangling", "/nowhere");
    files.link("/s/.#lock", "someone@somewhere");
    files.deny("/s/closed");
    files.write("/s/empty/SKILL.md", "");
    files.write("/s/skill-as-file", "x");
    const found = await find(files);
    expect(found.skills.flatMap(({ record }) => record.skill?.slug ?? [])).toEqual(["good"]);
    expect(codes(found).sort()).toEqual([
      "dangling-symlink /s/dangling",
      "dangling-symlink /s/gone/SKILL.md",
      "frontmatter-missing /s/empty/SKILL.md",
      "not-a-regular-file /s/directory/SKILL.md",
      "not-a-regular-file /s/fifo/SKILL.md",
      "unreadable /s/closed",
    ]);
  });

  it("drops only the skill whose file causes an unexpected error", async () => {
    const files = tree("/s/a/SKILL.md", "/s/b/SKILL.md");
    const head: typeof files.head = (file, limit) => {
      if (file === "/s/b/SKILL.md") throw new RangeError("a bug");
      return files.head(file, limit);
    };
    const found = await find({ ...files, head });
    expect(codes(found)).toEqual(["unreadable /s/b/SKILL.md"]);
    expect(found.skills.map(({ record }) => record.skill?.slug)).toEqual(["a", undefined]);
  });

  it("keeps other skills when symlink targets are inaccessible", async () => {
    const files = tree("/s/good/SKILL.md");
    files.link("/s/hidden", "/secret/x");
    files.link("/s/linked/SKILL.md", "/secret/x/SKILL.md");
    files.deny("/s/closed");
    const hidden = ["/s/hidden", "/s/linked/SKILL.md", "/s/closed"];
    const resolve: typeof files.resolve = (target) => {
      if (hidden.includes(target)) throw new SkillsError("UNREADABLE", `${target} cannot be read.`);
      return files.resolve(target);
    };
    const found = await find({ ...files, resolve });
    expect(found.skills.flatMap(({ record }) => record.skill?.slug ?? [])).toEqual(["good"]);
    expect(codes(found).sort()).toEqual([
      "dangling-symlink /s/hidden",
      "dangling-symlink /s/linked/SKILL.md",
      "unreadable /s/closed",
    ]);
  });

  it("reports a missing explicit root and a root that is a file, but not a missing default root", async () => {
    const files = memorySkillFiles({ "/file": "x" });
    const found = await find(files, {
      roots: [
        { path: "/missing", origin: "explicit" },
        { path: "/file", origin: "explicit" },
        { path: "/default", origin: "project" },
      ],
    });
    expect(codes(found)).toEqual(["unreadable /missing", "unreadable /file"]);
  });

  it("reads the version from <skill>/<version>/ and the name from the parent directory", async () => {
    const files = memorySkillFiles({
      "/s/pdf/1.2.0/SKILL.md": skillText("pdf", "Reads."),
      "/s/pdf/2.0.0-beta.1/SKILL.md": skillText("pdf", "Reads more."),
    });
    const found = await find(files);
    expect(found.skills.map(({ record }) => record.skill?.version)).toEqual(["1.2.0", "2.0.0-beta.1"]);
    expect(codes(found)).toEqual([]);
  });

  it("limits the number of directories without a skill and reports where it stopped", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const files = tree(...names.map((name) => `/s/${name}/SKILL.md`));
    for (const name of names) files.makeDirectory(`/s/x/${name}`);
    for (const name of names) files.makeDirectory(`/s/a/${name}`);
    const limits = { depth: 6, directories: 3, insideSkill: 2, unread: 3, durationMs: 1000 };
    const found = await find(files, { limits });
    expect(found.skills).toHaveLength(6);
    expect(codes(found).sort()).toEqual(["too-many-directories /s", "too-many-directories /s/a"]);
  });

  it("reads further into a file only while its frontmatter is incomplete", async () => {
    const long = `---\nname: long\ndescription: Long.\nmetadata:\n${"  key: value\n".repeat(1)}${"# x\n".repeat(5000)}---\n`;
    const files = memorySkillFiles({
      "/s/long/SKILL.md": long,
      "/s/body/SKILL.md": `${skillText("body", "b")}${"x".repeat(99_999)}`,
    });
    const limits: string[] = [];
    const head: MemorySkillFiles["head"] = (file, limit) => {
      limits.push(`${file} ${limit}`);
      return files.head(file, limit);
    };
    const found = await find({ ...files, head });
    expect(codes(found)).toEqual([]);
    expect(limits).toEqual([
      "/s/body/SKILL.md 4096",
      "/s/long/SKILL.md 4096",
      "/s/long/SKILL.md 8192",
      "/s/long/SKILL.md 16384",
      "/s/long/SKILL.md 32768",
    ]);
  });

  it("reads a manifest in the same directory as SKILL.md", async () => {
    const files = memorySkillFiles({
      "/s/sync/SKILL.md": skillText("Sync", "Shown."),
      "/s/sync/skill.toml": 'name = "sales.sync"\nversion = "1.0.0"\ndescription = "Syncs."\nkind = "instruction"\n',
    });
    const { skills } = await find(files);
    expect(skills[0]?.record.skill).toMatchObject({
      name: "sales.sync",
      slug: "sales-sync",
      dialect: "skills-protocol",
    });
  });

  it("offers a skill whose manifest is not valid UTF-8, and reports it", async () => {
    const files = memorySkillFiles({
      "/s/sync/SKILL.md": skillText("Sync", "Shown."),
      "/s/sync/skill.toml": Buffer.from(
        'name = "sync"\nversion = "1.0.0"\ndescription = "Syncs a caf\u00e9."\nkind = "instruction"\n',
        "latin1",
      ),
    });
    const { record } = (await find(files)).skills[0] ?? {};
    expect(record?.skill?.description).toBe("Syncs a caf\ufffd.");
    expect(record?.findings).toMatchObject([{ code: "invalid-utf8", file: "/s/sync/skill.toml", line: 3, column: 27 }]);
  });

  it("rescans only stale directories and watches each directory before reading it", async () => {
    const files = tree("/s/a/SKILL.md", "/s/b/SKILL.md", "/s/b/inner/SKILL.md");
    const log: string[] = [];
    const list: MemorySkillFiles["list"] = (directory) => {
      log.push(`list ${directory}`);
      return files.list(directory);
    };
    const scan = new Scan({
      roots: [{ path: "/s", origin: "explicit" }],
      files: { ...files, list },
      onDirectory: (directory) => log.push(`watch ${directory}`),
      onForgotten: (directory) => log.push(`forget ${directory}`),
    });
    await run(scan);
    expect(log).toEqual([
      "watch /s",
      "watch /s",
      "list /s",
      ...["/s/a", "/s/b", "/s/b/inner"].flatMap((directory) => [`watch ${directory}`, `list ${directory}`]),
    ]);
    log.length = 0;
    expect(scan.memory.markStale("/s/a", "SKILL.md")).toBe(true);
    expect(scan.memory.markStale("/elsewhere", "x")).toBe(false);
    expect((await run(scan)).skills).toHaveLength(3);
    expect(log).toEqual(["watch /s", "watch /s/a", "list /s/a"]);
    log.length = 0;
    files.remove("/s/b");
    scan.memory.markStale("/s", "b");
    expect(places(await run(scan))).toEqual(["/s/a /s"]);
    expect(log).toEqual(["watch /s", "watch /s", "list /s", "forget /s/b", "forget /s/b/inner"]);
    log.length = 0;
    scan.memory.markAllStale();
    await run(scan);
    expect(log.filter((line) => line.startsWith("list"))).toEqual(["list /s", "list /s/a"]);
  });

  it("reports a FIFO and a device on a real disk without blocking", async () => {
    const disk = diskTree(() => ({ add: () => undefined, remove: () => undefined, close: () => Promise.resolve() }));
    disk.write("good/SKILL.md", skillText("good", "Good."));
    disk.makeDirectory("fifo");
    execFileSync("mkfifo", [`${disk.root}/fifo/SKILL.md`]);
    disk.makeDirectory("device");
    disk.link("device/SKILL.md", "/dev/zero");
    disk.link("circle", "circle");
    const scan = new Scan({ roots: [{ path: disk.root, origin: "explicit" }], files: disk.files });
    const found = await run(scan);
    expect(found.skills.flatMap(({ record }) => record.skill?.slug ?? [])).toEqual(["good"]);
    expect(
      codes(found)
        .map((line) => line.replace(disk.root, ""))
        .sort(),
    ).toEqual(["dangling-symlink /circle", "not-a-regular-file /device/SKILL.md", "not-a-regular-file /fifo/SKILL.md"]);
    await disk.close();
  });
});
