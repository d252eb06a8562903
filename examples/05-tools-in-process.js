// For agent authors who call their model themselves: the tools in process, and their definitions for the model's API.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSkillsError, openSkills } from "acp-skills";

const dataDirectory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
const skills = await openSkills({
  directories: [fileURLToPath(new URL("skills", import.meta.url))],
  defaultRoots: false,
  dataDirectory, // Left out, blobs and the ledger are kept in the user's own.
});

// For the `tools` parameter of the model's API; "anthropic", "mcp" and "json-schema" are the other forms.
const definitions = skills.tools("openai");
console.log(`the model gets: ${definitions.map((tool) => tool.function.name).join(", ")}`);

// Pass the model's tool call on unchanged.
const session = { sessionId: "session-1" };
const { skills: rows } = await skills.call("list_skills", { detail: "summary" }, session);
for (const row of rows) console.log(`${row.name} ${row.version}`);

const { skill } = await skills.call("describe_skill", { name: "release-notes" }, session);
const paths = skill.files?.map(({ path }) => path);
assert.deepEqual(paths, ["SKILL.md", "evals/evals.json", "references/sections.md"]);

const file = await skills.call("read_skill_file", { name: "release-notes", path: "references/sections.md" }, session);
const { blob_id } = await skills.call("create_blob", { content: file.content, kind: "text/markdown" }, session);
const start = await skills.call("read_blob", { blob_id, max_bytes: 20 }, session);
assert.equal(start.content, file.content.slice(0, 20));
assert.equal(start.truncated, true);

// An error says what to do, so that the model can correct itself.
const refusal = await skills
  .call("describe_skill", { name: "relase-notes" }, session)
  .catch((/** @type {unknown} */ error) => error);
assert(isSkillsError(refusal));
console.log(`${refusal.code}: ${refusal.message} Nearest: ${String(refusal.facts.available)}`);

await skills.close();
await rm(dataDirectory, { recursive: true });
