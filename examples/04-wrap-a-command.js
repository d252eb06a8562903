// For programs that start agents: the wrapper as a function. On a command line the same is `acp-skills -- <agent command>`.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { wrapCommand } from "acp-skills";

const input = new PassThrough();
const output = new PassThrough();
let received = "";
output.on("data", (/** @type {Buffer} */ bytes) => {
  received += bytes.toString();
  if (received.includes("available_commands_update")) input.end();
});

const ended = wrapCommand({
  command: process.execPath,
  args: [fileURLToPath(new URL("echo-agent.js", import.meta.url))],
  input,
  output,
  options: { skills: [fileURLToPath(new URL("skills", import.meta.url))], defaultRoots: false },
});
const initialize = { protocolVersion: 1, clientCapabilities: {} };
input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: initialize })}\n`);
const session = { cwd: process.cwd(), mcpServers: [] };
input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/new", params: session })}\n`);

const status = await ended;
assert.equal(status.exitCode, 0);
const commands = received.split("\n").find((line) => line.includes("available_commands_update")) ?? "{}";
const names = /** @type {{ params: { update: { availableCommands: { name: string }[] } } }} */ (
  JSON.parse(commands)
).params.update.availableCommands.map(({ name }) => name);
assert.deepEqual(names, ["commit-message", "csv-summary", "release-notes"]);
console.log(`exit ${status.exitCode}; the editor was offered: ${names.join(", ")}`);
