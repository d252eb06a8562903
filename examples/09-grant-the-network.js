// A skill that needs the network gets access to the one address in its manifest after a person granted it, and to nothing else.
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isSkillsError, openSkills } from "acp-skills";

const service = createServer((_request, response) => response.end('{"healthy":true}')).listen(0, "127.0.0.1");
await once(service, "listening");
const address = service.address();
assert(typeof address === "object" && address !== null);

// The skill names port 8787; here the system chose another one.
const directory = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
const copy = join(directory, "skills", "status.fetch");
await cp(fileURLToPath(new URL("actions/status.fetch", import.meta.url)), copy, { recursive: true });
for (const file of ["skill.toml", "code/main.py"]) {
  const text = await readFile(join(copy, file), "utf8");
  await writeFile(join(copy, file), text.replaceAll("8787", String(address.port)));
}
const options = {
  directories: [join(directory, "skills")],
  defaultRoots: false,
  dataDirectory: join(directory, "data"),
};
const call = /** @type {const} */ (["execute_skill", { name: "status.fetch" }]);

const without = await openSkills(options);
const refusal = await without.call(...call).catch((/** @type {unknown} */ error) => error);
// Not every sandbox can allow a single address: where that is so, nobody has to approve it first.
assert(isSkillsError(refusal) && ["PERMISSION_DENIED", "SANDBOX_UNAVAILABLE"].includes(refusal.code));
console.log(`${refusal.message} ${String(refusal.facts.hint)}`);
await without.close();

const granted = await openSkills({ ...options, grants: ["status.fetch:network"] });
try {
  const run = await granted.call(...call);
  console.log(run.summary, run.output);
  assert.deepEqual(run.output, { status: { healthy: true }, elsewhere: 403 });
} catch (error) {
  assert(isSkillsError(error) && error.code === "SANDBOX_UNAVAILABLE" && error.code === refusal.code);
}
await granted.close();
service.close();
await rm(directory, { recursive: true });
