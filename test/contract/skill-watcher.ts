import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { Catalog } from "../../src/skills/skillset/catalog.ts";
import type { SkillFiles } from "../../src/skills/files.ts";
import type { OpenSkillWatcher } from "../../src/skills/skillset/watch.ts";
import type { Snapshot } from "../../src/skills/skill.ts";

/** A file tree and its watcher. The methods take paths relative to `root`. */
export interface WatchedTree {
  /** The real path of an existing, empty directory. */
  readonly root: string;
  readonly files: SkillFiles;
  readonly openWatcher: OpenSkillWatcher;
  write(file: string, content: string): void;
  makeDirectory(directory: string): void;
  remove(target: string): void;
  rename(from: string, to: string): void;
  link(link: string, target: string): void;
  close(): Promise<void>;
}

export function skillText(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\nBody.\n`;
}

/** The contract of `SkillWatcher`, run by every adapter: a catalog that uses it detects every change. */
export function describeSkillWatcher(adapter: string, openTree: () => WatchedTree): void {
  describe(`${adapter} implements the SkillWatcher contract`, () => {
    let tree: WatchedTree;
    let catalog: Catalog | undefined;
    beforeEach(() => {
      tree = openTree();
    });
    afterEach(async () => {
      await catalog?.close();
      await tree.close();
      catalog = undefined;
    });

    const save = (name: string, description: string, file = `skills/${name}/SKILL.md`): void => {
      tree.write(file, skillText(name, description));
    };
    async function open(...roots: string[]): Promise<Catalog> {
      const { files, openWatcher } = tree;
      catalog = new Catalog({
        roots: roots.map((root) => ({ path: `${tree.root}/${root}`, origin: "project" })),
        files,
        openWatcher,
        clock: systemClock,
        log: (_level, message) => {
          throw new Error(message);
        },
      });
      await catalog.ready;
      return catalog;
    }
    /** Replaces a link atomically, as deployment tools do. */
    const repoint = (link: string, target: string): void => {
      tree.link(`${link}~`, target);
      tree.rename(`${link}~`, link);
    };
    const openSkills = (): Promise<Catalog> => open("skills");

    it("detects an edit in place", async () => {
      save("a", "one");
      const skills = await openSkills();
      save("a", "two");
      await until(skills, { a: "two" });
    });

    it("detects a save that truncates the file first, and never lists the empty file", async () => {
      save("a", "one");
      const skills = await openSkills();
      const seen: Listed[] = [];
      skills.onChange((snapshot) => seen.push(listed(snapshot)));
      tree.write("skills/a/SKILL.md", "");
      save("a", "two");
      await until(skills, { a: "two" });
      expect(seen).toEqual([{ a: "two" }]);
    });

    it("detects repeated atomic saves", async () => {
      save("a", "0");
      const skills = await openSkills();
      for (const round of ["1", "2", "3", "4"]) {
        save("a", round, "skills/a/.SKILL.md.tmp");
        tree.rename("skills/a/.SKILL.md.tmp", "skills/a/SKILL.md");
        await until(skills, { a: round });
      }
    });

    it("detects a save that first renames the old file, and never lists the skill as removed", async () => {
      save("a", "one");
      const skills = await openSkills();
      const seen: Listed[] = [];
      skills.onChange((snapshot) => seen.push(listed(snapshot)));
      tree.rename("skills/a/SKILL.md", "skills/a/SKILL.md~");
      save("a", "two");
      tree.remove("skills/a/SKILL.md~");
      await until(skills, { a: "two" });
      expect(seen).toEqual([{ a: "two" }]);
    });

    it("detects added skills and edits right after they were added", async () => {
      tree.makeDirectory("skills");
      const skills = await openSkills();
      save("a", "one");
      save("a", "two");
      await until(skills, { a: "two" });
      save("a", "three");
      save("b", "one", "skills/group/b/SKILL.md");
      await until(skills, { a: "three", b: "one" });
      save("b", "two", "skills/group/b/SKILL.md");
      await until(skills, { a: "three", b: "two" });
    });

    it("detects a renamed skill directory and keeps watching it", async () => {
      save("a", "one");
      const skills = await openSkills();
      tree.rename("skills/a", "skills/b");
      await until(skills, { a: "one" }, "skills/b/SKILL.md");
      save("b", "two");
      await until(skills, { b: "two" });
    });

    it("detects removed skills", async () => {
      save("a", "one");
      save("b", "one");
      const skills = await openSkills();
      tree.remove("skills/a");
      await until(skills, { b: "one" });
      tree.remove("skills/b/SKILL.md");
      await until(skills, {});
    });

    it("detects a skill directory replaced by another with the same name", async () => {
      save("a", "one");
      save("a", "two", "other/SKILL.md");
      const skills = await openSkills();
      tree.rename("skills/a", "old");
      tree.rename("other", "skills/a");
      await until(skills, { a: "two" });
      save("a", "three");
      await until(skills, { a: "three" });
    });

    it("detects a root that is created later, together with its missing parents", async () => {
      tree.makeDirectory("project");
      const skills = await open("project/.agents/skills");
      tree.makeDirectory("project/unrelated");
      tree.makeDirectory("project/.agents");
      tree.makeDirectory("project/.agents/skills");
      save("a", "one", "project/.agents/skills/a/SKILL.md");
      await until(skills, { a: "one" });
      save("a", "two", "project/.agents/skills/a/SKILL.md");
      await until(skills, { a: "two" });
    });

    it("detects a root that is removed, created again and renamed", async () => {
      save("a", "one", "p/.agents/skills/a/SKILL.md");
      const skills = await open("p/.agents/skills");
      tree.remove("p/.agents/skills");
      await until(skills, {});
      save("a", "two", "p/.agents/skills/a/SKILL.md");
      await until(skills, { a: "two" });
      tree.rename("p/.agents", "p/.gone");
      await until(skills, {});
      save("b", "one", "p/.agents/skills/b/SKILL.md");
      await until(skills, { b: "one" });
      save("b", "two", "p/.agents/skills/b/SKILL.md");
      await until(skills, { b: "two" });
    });

    it("detects edits behind symlinks to files and to directories", async () => {
      save("a", "one", "elsewhere/a.md");
      save("b", "one", "far/b/SKILL.md");
      tree.makeDirectory("skills");
      tree.makeDirectory("skills/a");
      tree.link("skills/a/SKILL.md", `${tree.root}/elsewhere/a.md`);
      tree.link("skills/b", `${tree.root}/far/b`);
      const skills = await openSkills();
      expect(listed(skills.snapshot)).toEqual({ a: "one", b: "one" });
      save("a", "two", "elsewhere/a.md");
      await until(skills, { a: "two", b: "one" });
      save("b", "two", "far/b/SKILL.md");
      await until(skills, { a: "two", b: "two" });
      tree.remove("far/b");
      await until(skills, { a: "two" });
      save("b", "three", "far/b/SKILL.md");
      await until(skills, { a: "two", b: "three" });
    });

    it("detects that an ancestor of a root was replaced by another directory with the same name", async () => {
      save("a", "one", "p/.agents/skills/a/SKILL.md");
      save("a", "two", "new/.agents/skills/a/SKILL.md");
      const skills = await open("p/.agents/skills");
      tree.rename("p", "old");
      tree.rename("new", "p");
      await until(skills, { a: "two" });
      save("a", "three", "p/.agents/skills/a/SKILL.md");
      await until(skills, { a: "three" });
    });

    it("detects a distant ancestor of a root being renamed back and forth, removed and created again", async () => {
      save("a", "one", "far/above/p/.agents/skills/a/SKILL.md");
      const skills = await open("far/above/p/.agents/skills");
      tree.rename("far", "away");
      await until(skills, {});
      save("a", "two", "away/above/p/.agents/skills/a/SKILL.md");
      tree.rename("away", "far");
      await until(skills, { a: "two" });
      save("a", "three", "far/above/p/.agents/skills/a/SKILL.md");
      await until(skills, { a: "three" });
      tree.remove("far");
      save("a", "four", "far/above/p/.agents/skills/a/SKILL.md");
      await until(skills, { a: "four" });
      save("a", "five", "far/above/p/.agents/skills/a/SKILL.md");
      await until(skills, { a: "five" });
    });

    it("detects that a symlink above a root is retargeted, removed and created again", async () => {
      save("a", "one", "one/.agents/skills/a/SKILL.md");
      save("a", "two", "two/.agents/skills/a/SKILL.md");
      tree.link("p", `${tree.root}/one`);
      const skills = await open("p/.agents/skills");
      repoint("p", "two");
      await until(skills, { a: "two" });
      save("a", "three", "two/.agents/skills/a/SKILL.md");
      await until(skills, { a: "three" });
      tree.remove("p");
      await until(skills, {});
      tree.link("p", "one");
      await until(skills, { a: "one" });
      save("a", "four", "one/.agents/skills/a/SKILL.md");
      await until(skills, { a: "four" });
    });

    it("detects a change in a chain of symlinks above a root and of the target of the chain", async () => {
      save("a", "one", "store/one/skills/a/SKILL.md");
      save("a", "two", "store/two/skills/a/SKILL.md");
      tree.makeDirectory("p");
      tree.link("store/current", "one");
      tree.link("p/.claude", "../store/current");
      const skills = await open("p/.claude/skills");
      expect(listed(skills.snapshot)).toEqual({ a: "one" });
      repoint("store/current", "two");
      await until(skills, { a: "two" });
      tree.rename("store/two", "store/gone");
      await until(skills, {});
      tree.rename("store/one", "store/two");
      await until(skills, { a: "one" });
      save("a", "three", "store/two/skills/a/SKILL.md");
      await until(skills, { a: "three" });
    });

    it("detects that a dangling symlink above a root gets a target", async () => {
      tree.makeDirectory("p");
      tree.link("p/.claude", "../store/current");
      const skills = await open("p/.claude/skills");
      tree.makeDirectory("store");
      save("a", "one", "store/one/skills/a/SKILL.md");
      tree.link("store/current", "one");
      await until(skills, { a: "one" });
    });

    it("detects a change in a chain of symlinks to a SKILL.md", async () => {
      save("a", "one", "store/one.md");
      save("a", "two", "versions/two.md");
      tree.makeDirectory("skills/a");
      tree.link("store/current", "one.md");
      tree.link("skills/a/SKILL.md", "../../store/current");
      const skills = await openSkills();
      expect(listed(skills.snapshot)).toEqual({ a: "one" });
      repoint("store/current", "../versions/two.md");
      await until(skills, { a: "two" });
      save("a", "three", "versions/two.md");
      await until(skills, { a: "three" });
      tree.rename("versions", "store/versions");
      await until(skills, {});
      repoint("store/current", "versions/two.md");
      await until(skills, { a: "three" });
    });

    it("detects a change in a chain of symlinks to a skill directory", async () => {
      save("a", "one", "one/a/SKILL.md");
      save("a", "two", "two/a/SKILL.md");
      tree.makeDirectory("skills");
      tree.makeDirectory("links");
      tree.link("links/current", "../one");
      tree.link("skills/a", "../links/current/a");
      const skills = await openSkills();
      expect(listed(skills.snapshot)).toEqual({ a: "one" });
      repoint("links/current", "../two");
      await until(skills, { a: "two" });
      save("a", "three", "two/a/SKILL.md");
      await until(skills, { a: "three" });
      save("a", "four", "new/a/SKILL.md");
      tree.rename("two", "old");
      tree.rename("new", "two");
      await until(skills, { a: "four" });
    });

    it("detects that dangling symlinks to skills get targets", async () => {
      tree.makeDirectory("skills/b");
      tree.link("skills/a", "../links/current/a");
      tree.link("skills/b/SKILL.md", "../../links/b.md");
      const skills = await openSkills();
      save("b", "one", "links/b.md");
      save("a", "one", "one/a/SKILL.md");
      tree.link("links/current", "../one");
      await until(skills, { a: "one", b: "one" });
      save("b", "two", "links/b.md");
      await until(skills, { a: "one", b: "two" });
    });

    it("detects a missing root created next to the target of a skill's symlink", async () => {
      save("a", "one", "store/a.md");
      tree.makeDirectory("skills/a");
      tree.link("skills/a/SKILL.md", "../../store/a.md");
      const skills = await open("skills", "store/more");
      save("b", "one", "store/more/b/SKILL.md");
      await until(skills, { a: "one", b: "one" });
    });

    it("detects edits after a symlinked SKILL.md was replaced by a regular file", async () => {
      save("a", "shared", "a.md");
      tree.makeDirectory("skills/a");
      tree.link("skills/a/SKILL.md", `${tree.root}/a.md`);
      const skills = await openSkills();
      save("a", "own", "skills/a/SKILL.md~");
      tree.rename("skills/a/SKILL.md~", "skills/a/SKILL.md");
      await until(skills, { a: "own" });
      save("b", "one");
      await until(skills, { a: "own", b: "one" });
      save("b", "two");
      await until(skills, { a: "own", b: "two" });
    });

    it("detects all of 300 mixed edits", async () => {
      const names = Array.from({ length: 20 }, (_, index) => `s${index}`);
      for (const name of names) save(name, "0");
      const skills = await openSkills();
      const expected: Listed = Object.fromEntries(names.map((name) => [name, "0"]));
      for (let edit = 1; edit <= 300; edit++) {
        const name = names[(edit * 7) % names.length] ?? "";
        const description = String(edit);
        if (!(name in expected)) tree.makeDirectory(`skills/${name}`);
        switch (edit % 5) {
          case 0:
          case 1:
            save(name, description);
            break;
          case 2:
            tree.write(`skills/${name}/SKILL.md`, "");
            save(name, description);
            break;
          case 3:
            save(name, description, `skills/${name}/tmp`);
            tree.rename(`skills/${name}/tmp`, `skills/${name}/SKILL.md`);
            break;
          default:
            tree.remove(`skills/${name}`);
        }
        if (edit % 5 === 4) Reflect.deleteProperty(expected, name);
        else expected[name] = description;
        if (edit % 25 === 0) await until(skills, expected);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      await until(skills, expected);
    });

    it("reports nothing after close", async () => {
      save("a", "one");
      const hints: string[] = [];
      const watcher = tree.openWatcher(
        (directory) => hints.push(directory),
        () => undefined,
      );
      watcher.add(`${tree.root}/skills/a`);
      await watcher.close();
      const before = hints.length;
      watcher.add(`${tree.root}/skills`);
      const skills = await openSkills();
      save("a", "two");
      await until(skills, { a: "two" });
      expect(hints).toHaveLength(before);
    });
  });
}

/** Descriptions by slug. */
export type Listed = Record<string, string>;

export function listed(snapshot: Snapshot): Listed {
  return Object.fromEntries(snapshot.skills.map(({ skill }) => [skill.slug, skill.description]));
}

/** Resolves when the catalog lists exactly `expected`, with one skill at `file` if given. Only the timeout of the test limits the wait. */
export async function until(catalog: Catalog, expected: Listed, file = ""): Promise<void> {
  const wanted = sorted(expected);
  await new Promise<void>((resolve) => {
    const check = (snapshot: Snapshot): void => {
      if (sorted(listed(snapshot)) !== wanted) return;
      if (file !== "" && !snapshot.skills.some(({ skill }) => skill.file.endsWith(file))) return;
      stop();
      resolve();
    };
    const stop = catalog.onChange(check);
    check(catalog.snapshot);
  });
}

function sorted(skills: Listed): string {
  return JSON.stringify(Object.entries(skills).sort(([a], [b]) => (a < b ? -1 : 1)));
}
