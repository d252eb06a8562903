import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { alternate, percentile, summarise, summariseDifference, summariseRatio } from "./measure.js";
import { openRawEditor, openRawSession } from "./raw-editor.js";

/** @import { Bench } from "./main.js" */
/** @import { RawEditor } from "./raw-editor.js" */
/** @import { Row } from "./report.js" */

const agent = [process.execPath, fileURLToPath(new URL("processes/raw-agent.js", import.meta.url))];
const pipe = [process.execPath, fileURLToPath(new URL("processes/byte-pipe.js", import.meta.url)), ...agent];
const updates = 100_000;
const updateBytes = 300;

/**
 * Measures the same agent behind the wrapper, behind a byte pipe, and alone; all three stay open and are measured in turn.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measurePassThrough({ folder, samples, bin }) {
  const { root } = writeCorpus(folder, samples, 200);
  const editors = {
    ours: openRawEditor([process.execPath, bin, "--no-default-roots", "--skills", root, "--", ...agent]),
    pipe: openRawEditor(pipe),
    agent: openRawEditor(agent),
  };
  for (const editor of Object.values(editors)) await openRawSession(editor, { cwd: join(folder), optIn: true });
  const { ours, pipe: bare, agent: alone } = editors;
  // The first prompt lists the skills; a session that has been open for a while is measured.
  await ours.request("session/prompt", { sessionId: "bench", prompt: [{ type: "text", text: "hello" }] });

  const flood = await alternate({ ours: () => throughput(ours, "flood"), pipe: () => throughput(bare, "flood") }, 25);
  const trickle = await alternate(
    { ours: () => throughput(ours, "trickle"), pipe: () => throughput(bare, "trickle") },
    7,
  );
  const pings = await alternate({ ours: () => ping(ours), pipe: () => ping(bare), agent: () => ping(alone) }, 20);
  for (const editor of Object.values(editors)) await editor.close();

  const added = summariseDifference(pings.ours, pings.agent);
  return [
    toRow("one write each", trickle),
    toRow("written in blocks of 64 KiB", flood),
    {
      what: "round trip, p50 of 100, added to the agent alone",
      unit: "ms",
      ours: added,
      floor: { is: "byte pipe", value: summariseDifference(pings.pipe, pings.agent) },
      target: "p50 ≤ 0.15 ms",
      holds: added.median <= 0.15,
      note: `the agent alone: ${summarise(pings.agent).median.toFixed(3)} ms; over the byte pipe: ${summariseDifference(pings.ours, pings.pipe).median.toFixed(3)} ms`,
    },
  ];
}

/**
 * @param {string} how
 * @param {{ ours: number[], pipe: number[] }} rates
 * @returns {Row}
 */
function toRow(how, { ours, pipe: bare }) {
  const ratio = summariseRatio(ours, bare);
  return {
    what: `pass-through, 100,000 updates of 300 bytes, ${how}`,
    unit: "MB/s",
    ours: summarise(ours),
    floor: { is: "byte pipe", value: summarise(bare) },
    ratio,
    target: "≥ 0.85 × byte pipe",
    holds: ratio.median >= 0.85,
  };
}

/**
 * @param {RawEditor} editor
 * @param {"flood" | "trickle"} how
 */
async function throughput(editor, how) {
  const started = performance.now();
  const prompt = [{ type: "text", text: `${how} ${updates}` }];
  const bytes = await editor.flood("session/prompt", { sessionId: "bench", prompt });
  const seconds = (performance.now() - started) / 1000;
  if (bytes < updates * updateBytes) throw new Error(`${bytes} bytes arrived of ${updates} updates.`);
  return bytes / 1e6 / seconds;
}

/**
 * The median of a hundred round trips, one after the other.
 * @param {RawEditor} editor
 */
async function ping(editor) {
  const times = [];
  for (let count = 0; count < 100; count++) {
    const started = performance.now();
    await editor.request("session/set_mode", { sessionId: "bench", modeId: "ask" });
    times.push(performance.now() - started);
  }
  return percentile(times, 0.5);
}
