import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diskSkillBytes } from "../../../src/skills/files/disk-skill-bytes.ts";
import { describeSkillBytes } from "../../contract/skill-bytes.ts";
import type { ByteTree } from "../../contract/skill-bytes.ts";

function openTree(): ByteTree {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "skill-bytes-")));
  let late = 0;
  return {
    root,
    bytes: diskSkillBytes({ now: () => Date.now() + late }),
    write: (file, content) => writeFileSync(join(root, file), content),
    makeDirectory: (directory) => mkdirSync(join(root, directory)),
    link: (link, target) => symlinkSync(target, join(root, link)),
    makeOther: (file) => void execFileSync("mkfifo", [join(root, file)]),
    grow: () => void (late += 1000),
    close: () => rmSync(root, { recursive: true }),
  };
}

describeSkillBytes("disk", openTree);

test("omits the version of a file written just now, because a second write might not change its timestamp", () => {
  const tree = openTree();
  tree.write("f", "x");
  expect(tree.bytes.stamp(join(tree.root, "f"))).toEqual({ size: 1, version: undefined });
  tree.close();
});

test("an abort stops hashing a large file", async () => {
  const tree = openTree();
  tree.write("f", Buffer.alloc(4 * 1024 * 1024));
  const controller = new AbortController();
  const digest = tree.bytes.sha256(join(tree.root, "f"), controller.signal);
  controller.abort(new Error("enough"));
  await expect(digest).rejects.toThrow("enough");
  tree.close();
});
