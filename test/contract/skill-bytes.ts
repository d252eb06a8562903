import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SkillBytes } from "../../src/skills/files.ts";

/** Files to read. `root` is a real path; the methods take paths relative to it. */
export interface ByteTree {
  readonly root: string;
  readonly bytes: SkillBytes;
  write(file: string, content: string | Uint8Array): void;
  makeDirectory(directory: string): void;
  link(link: string, target: string): void;
  makeOther(file: string): void;
  /** Advances the clock until the stamp of the last write is reliable. */
  grow(): void;
  close(): void;
}

const never = new AbortController().signal;
const big = 300 * 1024;

/** The contract of `SkillBytes`, run by every adapter. */
export function describeSkillBytes(adapter: string, openTree: () => ByteTree): void {
  async function using(use: (tree: ByteTree) => void | Promise<void>): Promise<void> {
    const tree = openTree();
    try {
      await use(tree);
    } finally {
      tree.close();
    }
  }

  describe(`${adapter} implements the SkillBytes contract`, () => {
    it("returns the first bytes of a file and its total size", () =>
      using(({ root, bytes, ...tree }) => {
        tree.write("f", "0123456789");
        const head = (limit: number) => {
          const part = bytes.head(`${root}/f`, limit);
          return part && [Buffer.from(part.bytes).toString(), part.size];
        };
        expect([head(0), head(4), head(10), head(11)]).toEqual([
          ["", 10],
          ["0123", 10],
          ["0123456789", 10],
          ["0123456789", 10],
        ]);
      }));

    it("returns bytes that a later read does not overwrite", () =>
      using(({ root, bytes, ...tree }) => {
        tree.write("a", "one");
        tree.write("b", "two");
        const first = bytes.head(`${root}/a`, 9);
        bytes.head(`${root}/b`, 9);
        expect(Buffer.from(first?.bytes ?? []).toString()).toBe("one");
      }));

    it.each([0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, big])("hashes %i bytes", (size) =>
      using(async ({ root, bytes, ...tree }) => {
        const content = Buffer.alloc(size, "é");
        tree.write("f", content);
        const expected = createHash("sha256").update(content).digest("hex");
        expect(await bytes.sha256(`${root}/f`, never)).toBe(expected);
      }),
    );

    it("returns a stamp with the size and a version that changes with every write", () =>
      using(({ root, bytes, ...tree }) => {
        tree.write("f", "one");
        tree.grow();
        const before = bytes.stamp(`${root}/f`);
        expect(before).toMatchObject({ size: 3 });
        expect(before?.version).toBeTypeOf("string");
        expect(bytes.stamp(`${root}/f`)).toEqual(before);
        tree.write("f", "two");
        tree.grow();
        expect(bytes.stamp(`${root}/f`)?.version).not.toBe(before?.version);
      }));

    it.each(["missing", "directory", "pipe", "f/g", "dangling"])("returns undefined for %s without blocking", (name) =>
      using(async ({ root, bytes, ...tree }) => {
        tree.write("f", "x");
        tree.makeDirectory("directory");
        tree.makeOther("pipe");
        tree.link("dangling", "nothing");
        expect(bytes.stamp(`${root}/${name}`)).toBeUndefined();
        expect(bytes.head(`${root}/${name}`, 9)).toBeUndefined();
        expect(await bytes.sha256(`${root}/${name}`, never)).toBeUndefined();
      }),
    );

    it("does not follow a symlink in place of a real path", () =>
      using(async ({ root, bytes, ...tree }) => {
        tree.write("f", "x");
        tree.link("link", "f");
        expect(bytes.head(`${root}/link`, 9)).toBeUndefined();
        expect(await bytes.sha256(`${root}/link`, never)).toBeUndefined();
      }));
  });
}
