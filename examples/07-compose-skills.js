// Code as a model writes it: it imports two skills and has no network and no files of this machine.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSkills } from "acp-skills";

const dataDirectory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
const skills = await openSkills({
  directories: [fileURLToPath(new URL("actions", import.meta.url))],
  defaultRoots: false,
  dataDirectory,
});

const code = `
from skills.rows.clean import clean
from skills.rows.count import main as count

def main(args):
    rows = clean(args["rows"])
    return {"summary": f"Counted {len(rows)} rows.", "output": count({"rows": rows, "column": 1})}
`;
const rows = [
  ["Ada", " London"],
  ["Ada", "London"],
  ["Grace", "New York"],
  ["Alan", "London"],
];
const run = await skills.call("run_code", {
  language: "python",
  code,
  args: { rows },
  mount_skills: ["rows.clean", "rows.count"],
});
console.log(run.summary, run.output);
assert.equal(run.status, "completed");
assert.deepEqual(run.output, { London: 2, "New York": 1 });

// A program that fails is a result too: the error, its place, and what was printed before.
const failed = await skills.call("run_code", {
  language: "python",
  code: "def main():\n  print('here')\n  return 1 / 0\n",
});
console.log(failed.summary);
assert.equal(failed.error?.type, "ZeroDivisionError");
assert.equal(failed.logs_preview, "here\n");

await skills.close();
await rm(dataDirectory, { recursive: true });
