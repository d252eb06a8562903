// For editor authors: opt in, observe, and receive the whole list of skills after each change.
import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agent, client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { observeSkills, optIn, readAdvertisement, withSkills } from "acp-skills";
import { soon } from "./soon.js";
import { streamPair } from "./stream-pair.js";

const skills = await mkdtemp(join(tmpdir(), "acp-skills-example-"));
await cp(fileURLToPath(new URL("skills/commit-message", import.meta.url)), join(skills, "commit-message"), {
  recursive: true,
});

const [editorSide, agentSide] = streamPair();
const someAgent = agent({ name: "some-agent" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "session-1" }));
const wrapped = withSkills(someAgent, { directories: [skills], defaultRoots: false, announce: "rfd" });
wrapped.connect(agentSide);

/** @type {string[]} */
const seen = [];
const twoUpdates = new Promise((resolve) => {
  const stream = observeSkills(editorSide, (update) => {
    for (const skill of update.skills)
      console.log(`${skill.name} (${skill.license ?? "no licence"}): ${skill.description}`);
    seen.push(update.skills.map(({ name }) => name).join(" "));
    if (seen.length === 1) {
      const notes = "---\nname: notes\ndescription: Takes notes.\n---\n";
      void mkdir(join(skills, "notes")).then(() => writeFile(join(skills, "notes", "SKILL.md"), notes));
    }
    if (seen.length === 2) resolve(undefined);
  });
  const editor = client({ name: "my-editor" }).connect(stream);
  void editor.agent
    .request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { ...optIn() },
    })
    .then((response) => {
      console.log("the agent advertises:", readAdvertisement(response));
      return editor.agent.request(methods.agent.session.new, { cwd: skills, mcpServers: [] });
    });
});

await soon(twoUpdates);
assert.deepEqual(seen, ["commit-message", "commit-message notes"]);
await wrapped.close();
await rm(skills, { recursive: true });
