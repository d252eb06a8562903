// An agent that says, on the socket of its argument, what it received, and sends one message chunk when that socket says so.
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { parseJson } from "../bench/parse-json.js";

/** @typedef {{ id?: string, method: string, params?: { mcpServers?: unknown[] } }} Message */

const socket = connect(process.argv[2] ?? "");
const send = (/** @type {object} */ message) => void process.stdout.write(`${JSON.stringify(message)}\n`);
socket.on("data", () => {
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "It is sunny." } };
  send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "walk", update } });
});
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = /** @type {Message} */ (parseJson(line));
  socket.write(`${JSON.stringify({ method, mcpServers: params?.mcpServers })}\n`);
  if (id === undefined) continue;
  /** @type {Record<string, object>} */
  const results = {
    initialize: { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } },
    "session/new": { sessionId: "walk" },
  };
  send({ jsonrpc: "2.0", id, result: results[method] ?? {} });
}
process.exit();
