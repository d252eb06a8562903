// For programs that start agents: the wrapper as a function. On a command line the same is `acp-skills -- <agent command>`.
import assert from "node:assert/strict";
import { PassThrough, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { wrapCommand } from "acp-skills";
import { soon } from "./soon.js";

const input = new PassThrough();
const output = new PassThrough();
const ended = wrapCommand({
  command: process.execPath,
  args: [fileURLToPath(new URL("echo-agent.js", import.meta.url))],
  input,
  output,
  options: { directories: [fileURLToPath(new URL("skills", import.meta.url))], defaultRoots: false },
});

/** @type {Promise<string[]>} */
const offered = new Promise((resolve) => {
  const fromAgent = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(output));
  const editor = client({ name: "my-editor" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "available_commands_update")
        resolve(update.availableCommands.map(({ name }) => name));
    })
    .connect(ndJsonStream(Writable.toWeb(input), fromAgent));
  void editor.agent
    .request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
    .then(() => editor.agent.request(methods.agent.session.new, { cwd: process.cwd(), mcpServers: [] }));
});

const commands = await soon(offered);
input.end();
const { exitCode } = await soon(ended);
assert.equal(exitCode, 0);
assert.deepEqual(commands, ["commit-message", "csv-summary", "release-notes"]);
console.log(`exit ${exitCode}; commands in the editor: ${commands.join(", ")}`);
