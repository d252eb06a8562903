import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { makeTemporary, sweepTemporaryDirectories } from "../../../src/base/processes/temporary-directory.ts";
import { ownedName } from "../../../src/base/processes/live-process.ts";

test("sweeps what killed processes left, that of another container after a day, and nothing else", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-test-sweep-"));
  const own = path.basename(makeTemporary(directory, "git"));
  const [, , space = ""] = ownedName().split("-");
  const dead = `acp-skills-git-4194304-1-${space}-0123456789abcdef`;
  const elsewhere = `acp-skills-git-4194304-1-00000000-0123456789abcdef`;
  const open = `acp-skills-git-4194304-1-${space}-1123456789abcdef`;
  const link = `acp-skills-git-4194304-1-${space}-2123456789abcdef`;
  const others = ["acp-skills-git-4194304-abcdef", `acp-skills-add-4194304-1-${space}-0123456789abcdef`, "keep"];
  for (const name of [dead, elsewhere, open, ...others]) mkdirSync(path.join(directory, name), { mode: 0o700 });
  // What others could have written is not provably ours.
  chmodSync(path.join(directory, open), 0o777);
  writeFileSync(path.join(directory, "keep", "file"), "");
  symlinkSync("keep", path.join(directory, link));
  sweepTemporaryDirectories(directory, "git");
  expect(readdirSync(directory).sort()).toEqual([own, elsewhere, open, link, ...others].sort());
  sweepTemporaryDirectories(directory, "git", Date.now() + 25 * 60 * 60_000);
  expect(readdirSync(directory).sort()).toEqual([own, open, link, ...others].sort());
  expect(readdirSync(path.join(directory, "keep"))).toEqual(["file"]);
  rmSync(directory, { recursive: true });
});
