// Runs an action of the Skills Protocol in its sandbox: a blob goes in, a blob comes out.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSkillsError, openSkills } from "acp-skills";

const dataDirectory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
const skills = await openSkills({
  directories: [fileURLToPath(new URL("actions", import.meta.url))],
  defaultRoots: false,
  dataDirectory,
});

const table = "name,city\nAda, London\nAda,London\n,\nGrace,New York\n";
const { blob_id } = await skills.call("create_blob", { content: table, kind: "text/csv" });
const run = await skills.call(
  "execute_skill",
  { name: "rows.clean", args: { table: blob_id } },
  { onPrint: (text) => process.stdout.write(`while it runs: ${text}`) },
);
console.log(`${run.summary} Sandboxed by ${run.limits_applied.isolation}, ${run.duration_ms} ms.`);
assert.equal(run.status, "completed");
assert.deepEqual(run.output, { kept: 2, dropped: 2 });

const [clean = ""] = run.output_blobs;
const { content } = await skills.call("read_blob", { blob_id: clean, mode: "full" });
assert.equal(content, "name,city\r\nAda,London\r\nGrace,New York\r\n");

// Arguments are validated before anything starts; the error says what to write instead.
const refusal = await skills
  .call("execute_skill", { name: "rows.clean", args: { tabel: blob_id } })
  .catch((/** @type {unknown} */ error) => error);
assert(isSkillsError(refusal));
console.log(`${refusal.code}: ${refusal.message}`);

await skills.close();
await rm(dataDirectory, { recursive: true });
