import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "vitest";
import { expectWalks } from "./walks/expect-walks.ts";
import { walkAdd, walkWrapper } from "./walks/walks.js";

/**
 * How many files of ours may run in one action, after the first of its kind. They are what a reader has to know for it: lower a number
 * when the walk has become shorter. `node test/walks/main.js --list list_skills` lists the files.
 */
const wrapper = {
  "message to the agent": 5,
  "message to the editor": 5,
  "edit of SKILL.md": 49,
  list_skills: 15,
  run_code: 39,
  "blob of 8 MiB": 24,
};
const add = { "add URL NAME": 79 };

test.each([
  ["through the wrapper", walkWrapper, wrapper],
  ["to a skill of a server", walkAdd, add],
])("walks %s are no longer than before", { timeout: 120_000 }, async (_name, walk, limits) => {
  const folder = mkdtempSync(path.join(tmpdir(), "acp-skills-walks-"));
  try {
    expectWalks(await walk(folder), limits);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});
