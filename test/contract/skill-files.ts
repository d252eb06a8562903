import { describe, expect, it } from "vitest";
import { isSkillsError } from "../../src/base/errors.ts";
import type { SkillFiles } from "../../src/skills/files.ts";

/** A file tree to read. `root` is its real path; the methods take paths relative to it. */
export interface FileTree {
  readonly root: string;
  readonly files: SkillFiles;
  write(file: string, content: string): void;
  makeDirectory(directory: string): void;
  link(link: string, target: string): void;
  /** Creates a FIFO, or its equivalent in the adapter. */
  makeOther(file: string): void;
  close(): void;
}

/** The contract of `SkillFiles`, run by every adapter. */
export function describeSkillFiles(adapter: string, openTree: () => FileTree): void {
  describe(`${adapter} implements the SkillFiles contract`, () => {
    it("lists every entry with its kind, resolving symlinks", () => {
      using(openTree, ({ root, files, ...tree }) => {
        tree.write("s/SKILL.md", "x");
        tree.makeDirectory("s/scripts");
        tree.makeOther("s/pipe");
        tree.link("s/to-file", "SKILL.md");
        tree.link("s/to-directory", "scripts");
        tree.link("s/to-pipe", "pipe");
        tree.link("s/to-nothing", "missing");
        tree.link("s/circle", "circle");
        const entries = [...files.list(`${root}/s`)].sort((a, b) => (a.name < b.name ? -1 : 1));
        expect(entries).toEqual([
          { name: "SKILL.md", kind: "file", link: false },
          { name: "circle", kind: "dangling", link: true },
          { name: "pipe", kind: "other", link: false },
          { name: "scripts", kind: "directory", link: false },
          { name: "to-directory", kind: "directory", link: true },
          { name: "to-file", kind: "file", link: true },
          { name: "to-nothing", kind: "dangling", link: true },
          { name: "to-pipe", kind: "other", link: true },
        ]);
      });
    });

    it("returns an empty list for an empty directory", () => {
      using(openTree, ({ root, files, ...tree }) => {
        tree.makeDirectory("empty");
        expect(files.list(`${root}/empty`)).toEqual([]);
      });
    });

    it("reads at most the limit and reports whether the file was read completely", () => {
      using(openTree, ({ root, files, ...tree }) => {
        tree.write("f", "0123456789");
        const text = (limit: number): [string, boolean] => {
          const { bytes, whole } = files.head(`${root}/f`, limit);
          return [Buffer.from(bytes).toString(), whole];
        };
        expect(text(4)).toEqual(["0123", false]);
        expect(text(9)).toEqual(["012345678", false]);
        expect(text(11)).toEqual(["0123456789", true]);
        expect(text(8192)).toEqual(["0123456789", true]);
        expect(text(3)).toEqual(["012", false]);
      });
    });

    it("reads an empty file and a file behind a symlink", () => {
      using(openTree, ({ root, files, ...tree }) => {
        tree.write("empty", "");
        tree.write("real", "text");
        tree.link("link", "real");
        expect(files.head(`${root}/empty`, 4096)).toMatchObject({ whole: true, bytes: { length: 0 } });
        expect(Buffer.from(files.head(`${root}/link`, 4096).bytes).toString()).toBe("text");
      });
    });

    it("resolves a path to its real path, or to undefined if it does not exist", () => {
      using(openTree, ({ root, files, ...tree }) => {
        tree.write("a/f", "x");
        tree.link("b", "a");
        tree.link("loop", "loop");
        expect(files.resolve(`${root}/b/f`)).toBe(`${root}/a/f`);
        expect(files.resolve(`${root}/b`)).toBe(`${root}/a`);
        expect(files.resolve(`${root}/a/../a`)).toBe(`${root}/a`);
        for (const nothing of ["missing", "a/missing", "missing/f", "loop", "loop/f"]) {
          expect(files.resolve(`${root}/${nothing}`)).toBeUndefined();
        }
      });
    });

    it.each(["missing", "a/f", "pipe"])("throws UNREADABLE with a reason when listing %s", (target) => {
      using(openTree, ({ root, files, ...tree }) => {
        tree.write("a/f", "x");
        tree.makeOther("pipe");
        expectUnreadable(`${root}/${target}`, () => files.list(`${root}/${target}`));
      });
    });

    it.each(["missing", "a", "pipe", "circle", "a/f/g"])(
      "throws UNREADABLE with a reason when reading the head of %s",
      (target) => {
        using(openTree, ({ root, files, ...tree }) => {
          tree.write("a/f", "x");
          tree.makeOther("pipe");
          tree.link("circle", "circle");
          expectUnreadable(`${root}/${target}`, () => files.head(`${root}/${target}`, 4096));
        });
      },
    );
  });
}

function using(openTree: () => FileTree, use: (tree: FileTree) => void): void {
  const tree = openTree();
  try {
    use(tree);
  } finally {
    tree.close();
  }
}

function expectUnreadable(target: string, act: () => unknown): void {
  let thrown: unknown;
  try {
    act();
  } catch (error) {
    thrown = error;
  }
  if (!isSkillsError(thrown)) throw new Error("expected a SkillsError", { cause: thrown });
  expect(thrown.code).toBe("UNREADABLE");
  expect(thrown.message.startsWith(`${target} cannot be read: `)).toBe(true);
  expect(thrown.message).toMatch(/ [a-z ]+\.$/);
}
