// For agent authors on SDK 2.x: one call around the agent, and every editor sees the skills of the session's directories.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { agent, client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { withSkills } from "acp-skills";
import { soon } from "./soon.js";
import { streamPair } from "./stream-pair.js";

const myAgent = agent({ name: "my-agent" })
  .onRequest(methods.agent.initialize, () => ({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: "session-1" }));

// An agent on stdio hands its ndJsonStream to `connect` instead.
const [editorSide, agentSide] = streamPair();
const directory = fileURLToPath(new URL("skills", import.meta.url));
const mine = withSkills(myAgent, { directories: [directory], defaultRoots: false });
mine.connect(agentSide);

/** @type {Promise<string[]>} */
const offered = new Promise((resolve) => {
  const editor = client({ name: "my-editor" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "available_commands_update")
        resolve(update.availableCommands.map(({ name }) => name));
    })
    .connect(editorSide);
  void editor.agent
    .request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
    .then(() => editor.agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] }));
});

const commands = await soon(offered);
assert.deepEqual(commands, ["commit-message", "csv-summary", "release-notes"]);
console.log(`commands in the editor: ${commands.join(", ")}`);

// The same skills for the agent itself. In TypeScript: `await using skills = withSkills(…)`.
const [first] = await mine.list();
console.log(`first of all: ${first?.name ?? "none"}`);
await mine.close();
