import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { alternate, percentile, summarise, summariseDifference, summariseRatio } from "./measure.js";
import { parseJson } from "./parse-json.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const relay = [process.execPath, fileURLToPath(new URL("processes/cut-envelopes.js", import.meta.url))];
const updates = 100_000;
const lineLength = 300;
const blockLines = 218;
const words = "The build reads each file once and keeps what it found; a second look at the same directory is cheap. ";
const chunk =
  '"method":"session/update","params":{"sessionId":"bench","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"';
/** The two forms that agents write: what is before and behind the text. */
const shapes = [
  { name: "content last", inner: [chunk, '"}}}'] },
  { name: "content, then messageId", inner: [chunk, '"},"messageId":"3f2b6c1e-9d0a-4c58-8f21-6b7d2a90c4e7"}}'] },
];

/** An update for the editor in an envelope, of 300 bytes without it. @param {string[]} inner */
function toLine(inner) {
  const text = words.repeat(3).slice(0, lineLength - ['{"jsonrpc":"2.0",', ...inner, "}\n"].join("").length);
  return Buffer.from(`{"jsonrpc":"2.0","method":"proxy/successor","params":{${inner.join(text)}}}\n`);
}

/**
 * Measures a proxy whose conductor, editor and agent are this process, beside a process that only cuts envelopes off.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureProxy({ folder, samples, bin }) {
  const { root } = writeCorpus(folder, samples, 200);
  const ours = openChain([process.execPath, bin, "proxy", "--no-default-roots", "--skills", root]);
  const bare = openChain(relay);
  await ours.ask("proxy/initialize", {
    protocolVersion: 1,
    clientCapabilities: { _meta: { "acp-skills": { commands: true } } },
  });
  await ours.ask("session/new", { cwd: folder, mcpServers: [] });
  await ours.ask("session/prompt", { sessionId: "bench", prompt: [{ type: "text", text: "hello" }] });

  const rows = [];
  for (const { name, inner } of shapes) {
    const line = toLine(inner);
    // Compiled before it is measured.
    for (const chain of [ours, bare]) for (let round = 0; round < 3; round++) await chain.flood(line, blockLines);
    const both = (/** @type {number} */ atOnce) => ({
      ours: () => ours.flood(line, atOnce),
      bare: () => bare.flood(line, atOnce),
    });
    rows.push(toRow(`${name}, one write each`, await alternate(both(1), 7)));
    rows.push(toRow(`${name}, written in blocks of 64 KiB`, await alternate(both(blockLines), 25)));
  }
  const pings = await alternate({ ours: () => ping(ours), bare: () => ping(bare) }, 20);
  await Promise.all([ours.close(), bare.close()]);
  const added = summarise(pings.ours);
  return [
    ...rows,
    {
      what: "round trip through the proxy mount, p50 of 100",
      unit: "ms",
      ours: added,
      floor: { is: "relay", value: summarise(pings.bare) },
      target: "p50 ≤ 0.15 ms",
      holds: added.median <= 0.15,
      note: `over the relay: ${summariseDifference(pings.ours, pings.bare).median.toFixed(3)} ms`,
    },
  ];
}

/**
 * @param {string} how
 * @param {{ ours: number[], bare: number[] }} rates
 * @returns {Row}
 */
function toRow(how, { ours, bare }) {
  const ratio = summariseRatio(ours, bare);
  return {
    what: `proxy mount, 100,000 updates of 300 bytes, ${how}`,
    unit: "MB/s",
    ours: summarise(ours),
    floor: { is: "a relay that only cuts envelopes off", value: summarise(bare) },
    ratio,
    target: "≥ 0.8 × relay",
    holds: ratio.median >= 0.8,
  };
}

/** @typedef {{ id?: unknown, method?: string, params?: { method?: string } }} Message */

/** @param {readonly string[]} command */
function openChain([file = "", ...args]) {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  /** @type {((chunk: Buffer) => void)} */
  let take = takeLines;
  let rest = "";
  let lastId = 0;
  /** @type {Map<unknown, () => void>} */
  const waiting = new Map();
  child.stdout.on("data", (/** @type {Buffer} */ chunk) => take(chunk));

  /** @param {object} message */
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  /** @param {Buffer} chunk */
  function takeLines(chunk) {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      const { id, method, params } = /** @type {Message} */ (parseJson(text));
      if (id === undefined) continue;
      if (method === undefined) waiting.get(id)?.();
      else send({ id, result: params?.method === "initialize" ? { protocolVersion: 1 } : { sessionId: "bench" } });
    }
  }

  return {
    /**
     * @param {string} method
     * @param {object} params
     */
    async ask(method, params) {
      const id = ++lastId;
      const answered = new Promise((/** @type {(value?: undefined) => void} */ resolve) => waiting.set(id, resolve));
      send({ id, method, params });
      await answered;
    },
    /**
     * Returns the rate of what arrives, in MB/s.
     * @param {Buffer} line
     * @param {number} atOnce
     */
    async flood(line, atOnce) {
      const wanted = updates * lineLength;
      let bytes = 0;
      const arrived = new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        take = (chunk) => {
          bytes += chunk.length;
          if (bytes >= wanted) resolve();
        };
      });
      const block = Buffer.concat(Array.from({ length: atOnce }, () => line));
      const started = performance.now();
      for (let left = updates; left > 0; left -= atOnce) {
        const piece = left < atOnce ? block.subarray(0, left * line.length) : block;
        if (!child.stdin.write(piece)) await once(child.stdin, "drain");
      }
      await arrived;
      take = takeLines;
      return (updates * lineLength) / 1e6 / ((performance.now() - started) / 1000);
    },
    async close() {
      const ended = once(child, "close");
      child.stdin.end();
      await ended;
    },
  };
}

/** @param {ReturnType<typeof openChain>} chain */
async function ping(chain) {
  const times = [];
  for (let count = 0; count < 100; count++) {
    const started = performance.now();
    await chain.ask("session/set_mode", { sessionId: "bench", modeId: "ask" });
    times.push(performance.now() - started);
  }
  return percentile(times, 0.5);
}
