// An agent without an SDK that adds little to the measured time. It answers a prompt "flood N" with N updates of 300 bytes, "trickle N"
// with as many in one write each.
import { once } from "node:events";
import { parseJson } from "../parse-json.js";

/** @typedef {{ id?: unknown, method: string, params?: { prompt?: { text?: string }[] } }} Request */

const lineLength = 300;
/** As many as fit into the buffer of a pipe. */
const blockLines = 218;
const words = "The build reads each file once and keeps what it found; a second look at the same directory is cheap. ";
const input = /** @type {AsyncIterable<Buffer>} */ (process.stdin);
/** @type {Buffer} */
let pending = Buffer.alloc(0);

for await (const chunk of input) {
  pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
  for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
    const line = pending.subarray(0, end).toString();
    pending = pending.subarray(end + 1);
    await answer(/** @type {Request} */ (parseJson(line)));
  }
}

/** @param {Request} request */
async function answer({ id, method, params }) {
  if (id === undefined) return;
  switch (method) {
    case "initialize":
      respond(id, { protocolVersion: 1, agentCapabilities: { promptCapabilities: { embeddedContext: true } } });
      return;
    case "session/new":
      respond(id, { sessionId: "bench" });
      return;
    case "session/prompt": {
      const [, how, count] = /^(flood|trickle) (\d+)/.exec(params?.prompt?.[0]?.text ?? "") ?? [];
      if (count !== undefined) await update(Number(count), how === "flood" ? blockLines : 1);
      respond(id, { stopReason: "end_turn" });
      return;
    }
    default:
      respond(id, {});
  }
}

/**
 * @param {unknown} id
 * @param {unknown} result
 */
function respond(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

/**
 * @param {number} count
 * @param {number} atOnce
 */
async function update(count, atOnce) {
  const [before, after] = [
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"bench","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`,
    `"}}}}\n`,
  ];
  const line = `${before}${words.repeat(3).slice(0, lineLength - before.length - after.length)}${after}`;
  const block = Buffer.from(line.repeat(atOnce));
  for (let left = count; left > 0; left -= atOnce) {
    const piece = left < atOnce ? block.subarray(0, left * lineLength) : block;
    if (!process.stdout.write(piece)) await once(process.stdout, "drain");
  }
}
