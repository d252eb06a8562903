// Keeps what people allowed in a database of one's own: the port `approvals` is a module, `sqlite-approvals.js`. Node ≥ 22.13.
import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSkillsError, openSkills } from "acp-skills";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 13)) await askOnce();
else console.log("node:sqlite needs Node 22.13 or newer: nothing was run.");

async function askOnce() {
  const directory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
  await cp(fileURLToPath(new URL("actions/status.fetch", import.meta.url)), join(directory, "skills", "status.fetch"), {
    recursive: true,
  });
  const approvals = new URL("sqlite-approvals.js", import.meta.url);
  approvals.searchParams.set("file", join(directory, "approvals.sqlite"));
  let questions = 0;
  const options = {
    directories: [join(directory, "skills")],
    defaultRoots: false,
    dataDirectory: join(directory, "data"),
    ports: { approvals },
    ask: (/** @type {import("acp-skills").Question} */ { title }) => {
      questions++;
      console.log(title);
      return Promise.resolve(/** @type {const} */ ("trust"));
    },
  };
  for (const attempt of ["first", "second"]) {
    const skills = await openSkills(options);
    const run = await skills
      .call("execute_skill", { name: "status.fetch" })
      .catch((/** @type {unknown} */ error) => error);
    // Where no sandbox can allow a single address, nobody is asked.
    if (isSkillsError(run, "SANDBOX_UNAVAILABLE")) questions = 1;
    console.log(`${attempt} process: asked ${questions} times so far`);
    await skills.close();
  }
  assert.equal(questions, 1);
  await rm(directory, { recursive: true });
}
