import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { findCommand } from "../../../src/sandbox/find/find-command.ts";
import { removeTree } from "../../../src/sandbox/directory/remove-tree.ts";

const python = findCommand("python3", ["/usr/bin"]);

describe.skipIf(process.platform === "win32")("removeTree", () => {
  const base = mkdtempSync(join(tmpdir(), "remove-tree-"));
  afterAll(() => removeTree(base));
  let tree = "";
  let count = 0;
  beforeEach(() => {
    tree = join(base, String(++count));
    mkdirSync(tree);
  });

  test("removes a directory with its contents", async () => {
    mkdirSync(join(tree, "a/b/c"), { recursive: true });
    for (const path of ["f", "a/f", "a/b/c/f"]) writeFileSync(join(tree, path), "x");
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  test("does not follow symbolic links", async () => {
    const kept = join(base, "kept");
    mkdirSync(kept, { recursive: true });
    writeFileSync(join(kept, "file"), "still here");
    symlinkSync(kept, join(tree, "directory"));
    symlinkSync(join(kept, "file"), join(tree, "file"));
    symlinkSync("/absent", join(tree, "dangling"));
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
    expect(readFileSync(join(kept, "file"), "utf8")).toBe("still here");
  });

  test("removes directories without permissions", async () => {
    mkdirSync(join(tree, "a/b"), { recursive: true });
    writeFileSync(join(tree, "a/b/f"), "x");
    chmodSync(join(tree, "a/b"), 0);
    chmodSync(join(tree, "a"), 0);
    chmodSync(tree, 0);
    await removeTree(tree);
    expect(existsSync(tree)).toBe(false);
  });

  test.skipIf(python === undefined)(
    "removes directories deeper than PATH_MAX and names that are not UTF-8",
    async () => {
      const code = `
import os, sys
os.chdir(sys.argv[1])
open(b"\\xff\\xfe", "w").close()
os.mkdir(b"\\xff")
for n in range(3000):
    os.mkdir("deep")
    os.chdir("deep")
open("bottom", "w").close()
`;
      execFileSync(python ?? "", ["-c", code, tree]);
      await removeTree(tree);
      expect(existsSync(tree)).toBe(false);
    },
  );

  test("ignores a missing directory", async () => {
    await removeTree(join(tree, "absent"));
    expect(existsSync(tree)).toBe(true);
  });
});
