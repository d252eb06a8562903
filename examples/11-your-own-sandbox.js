// Runs a skill in a container instead of in our sandbox: the port `sandbox` is a module, `container-sandbox.js`.
// Needs docker, or another command of the same form: CONTAINER_COMMAND=podman node examples/11-your-own-sandbox.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSkills } from "acp-skills";

const command = process.env["CONTAINER_COMMAND"] ?? "docker";
if (spawnSync(command, ["version"], { stdio: "ignore" }).status === 0) await runInContainer();
else console.log(`${command} does not work here: nothing was run. CONTAINER_COMMAND names another one.`);

async function runInContainer() {
  const dataDirectory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
  const sandbox = new URL("container-sandbox.js", import.meta.url);
  const skills = await openSkills({
    directories: [fileURLToPath(new URL("actions", import.meta.url))],
    defaultRoots: false,
    dataDirectory,
    ports: { sandbox },
  });
  const { blob_id } = await skills.call("create_blob", { content: "name\nAda\n Ada \n", kind: "text/csv" });
  const run = await skills.call("execute_skill", { name: "rows.clean", args: { table: blob_id } });
  console.log(`${run.summary} Isolated by a ${run.limits_applied.isolation}.`);
  assert.equal(run.limits_applied.isolation, "container");
  assert.deepEqual(run.output, { kept: 1, dropped: 1 });
  const { content } = await skills.call("read_blob", { blob_id: run.output_blobs[0] ?? "", mode: "full" });
  assert.equal(content, "name\r\nAda\r\n");
  await skills.close();
  await rm(dataDirectory, { recursive: true });
}
