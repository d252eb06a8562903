// Runs a script of an ordinary Agent Skill, in the same sandbox as everything else.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSkills } from "acp-skills";

const dataDirectory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
const skills = await openSkills({
  directories: [fileURLToPath(new URL("skills", import.meta.url))],
  defaultRoots: false,
  dataDirectory,
});

const { skill } = await skills.call("describe_skill", { name: "csv-summary" });
console.log(`scripts: ${String(skill.scripts)}`);

const table = "city,people\nLondon,9\nOslo,1\n";
const { blob_id } = await skills.call("create_blob", { content: table, kind: "text/csv" });
const run = await skills.call("execute_skill", {
  name: "csv-summary",
  script: "scripts/summarize.py",
  args: { argv: ["--in", `/blobs/${blob_id}`] },
  input_blobs: [blob_id],
});
console.log(run.output);
assert.equal(run.status, "completed");
assert.match(JSON.stringify(run.output), /city/);

await skills.close();
await rm(dataDirectory, { recursive: true });
