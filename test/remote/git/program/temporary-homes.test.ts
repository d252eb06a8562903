import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { makeHome, sweepHomes } from "../../../../src/remote/git/program/temporary-homes.ts";

test("sweeps what killed processes left an hour ago, and nothing else", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-test-sweep-"));
  const own = path.basename(await makeHome(directory));
  const gone = "acp-skills-git-999999999-abcdef";
  for (const name of [gone, "acp-skills-git-x-abcdef", "other"]) mkdirSync(path.join(directory, name));
  await sweepHomes(directory, Date.now() + 60_000);
  expect(readdirSync(directory)).toHaveLength(4);
  await sweepHomes(directory, Date.now() + 2 * 60 * 60_000);
  expect(readdirSync(directory).sort()).toEqual([own, "acp-skills-git-x-abcdef", "other"].sort());
  rmSync(directory, { recursive: true });
});
