// For editor authors: a store of the skills that agents told, searched, filtered and compared.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { agent, client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { withSkills } from "acp-skills";
import { compareAgents, createSkillsStore, facetsOf, openRecommendations, openSearch, optIn } from "acp-skills/client";
import { soon } from "./soon.js";
import { streamPair } from "./stream-pair.js";

const [editorSide, agentSide] = streamPair();
const skills = fileURLToPath(new URL("skills", import.meta.url));
const someAgent = agent({ name: "some-agent" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "session-1" }));
const wrapped = withSkills(someAgent, { directories: [skills], defaultRoots: false });
wrapped.connect(agentSide);

// The store reads along; the editor does nothing else for it.
const store = createSkillsStore();
const editor = client({ name: "my-editor" }).connect(store.connect(editorSide, "some agent"));
await editor.agent.request(methods.agent.initialize, {
  protocolVersion: PROTOCOL_VERSION,
  clientCapabilities: { ...optIn() },
});
const told = new Promise((resolve) => {
  store.subscribe(() => {
    if (store.skills.length > 0) resolve(undefined);
  });
});
await editor.agent.request(methods.agent.session.new, { cwd: skills, mcpServers: [] });
await soon(told);

for (const { name, license, command } of store.skills) console.log(`/${command ?? name} (${license ?? "no licence"})`);
const names = store.skills.map(({ name }) => name);
assert.deepEqual(names.toSorted(), ["commit-message", "csv-summary", "release-notes"]);
assert.equal(openSearch(store.skills)("sumary")[0]?.name, "csv-summary", "a typo is forgiven");
const [best] = openRecommendations(store.skills)("Write a message for this commit, please.");
assert.equal(best?.skill.name, "commit-message");
console.log(`recommended: ${best.skill.name}, because of ${best.words.join(", ")}`);
console.log("kinds:", facetsOf(store.skills).kind);
assert.deepEqual(compareAgents([{ agent: "some agent", skills: store.skills }])[0]?.agents, ["some agent"]);
assert.deepEqual(store.problems, []);
await wrapped.close();
