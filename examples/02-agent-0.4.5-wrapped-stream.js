// For agent authors on the older package: wrap the stream that goes into AgentSideConnection.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { AgentSideConnection, ClientSideConnection, PROTOCOL_VERSION } from "@zed-industries/agent-client-protocol";
import { wrapStream } from "acp-skills";
import { soon } from "./soon.js";
import { streamPair } from "./stream-pair.js";

/** @import { Stream } from "@zed-industries/agent-client-protocol" */
/** @type {[Stream, Stream]} */
const [editorSide, agentSide] = streamPair();
const skills = fileURLToPath(new URL("skills", import.meta.url));
const wrapped = wrapStream(agentSide, { directories: [skills], defaultRoots: false });

new AgentSideConnection(
  () => ({
    initialize: () => Promise.resolve({ protocolVersion: PROTOCOL_VERSION, agentCapabilities: {}, authMethods: [] }),
    newSession: () => Promise.resolve({ sessionId: "session-1" }),
    authenticate: () => Promise.resolve(),
    prompt: () => Promise.resolve({ stopReason: "end_turn" }),
    cancel: () => Promise.resolve(),
  }),
  wrapped,
);

/** @type {Promise<string[]>} */
const offered = new Promise((resolve) => {
  const editor = new ClientSideConnection(
    () => ({
      sessionUpdate({ update }) {
        if (update.sessionUpdate === "available_commands_update")
          resolve(update.availableCommands.map(({ name }) => name));
        return Promise.resolve();
      },
      requestPermission: () => Promise.resolve({ outcome: { outcome: "cancelled" } }),
    }),
    editorSide,
  );
  void editor
    .initialize({ protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
    .then(() => editor.newSession({ cwd: process.cwd(), mcpServers: [] }));
});

const commands = await soon(offered);
assert.deepEqual(commands, ["commit-message", "csv-summary", "release-notes"]);
console.log(`commands in the editor: ${commands.join(", ")}`);
await wrapped.close();
