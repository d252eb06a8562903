import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { percentile, summarise, summariseDifference } from "./measure.js";
import { openRawEditor, openRawSession } from "./raw-editor.js";

/** @import { Bench } from "./main.js" */
/** @import { RawEditor } from "./raw-editor.js" */
/** @import { Row } from "./report.js" */

const agent = [process.execPath, fileURLToPath(new URL("processes/raw-agent.js", import.meta.url))];
const pipe = [process.execPath, fileURLToPath(new URL("processes/byte-pipe.js", import.meta.url)), ...agent];
const rounds = 5;
const pings = 400;

/** Runs that are expensive for the host: large frames, large results, much output, many calls. */
const attacks = [
  "def main():\n  return [1] * 1500000",
  "def main():\n  for _ in range(8):\n    print('x' * 5000000)\n  return 1",
  "import runtime\ndef main():\n  for _ in range(200):\n    try:\n      runtime.blobs.create('y' * 1000000, 'text/plain')\n    except Exception:\n      return 1\n  return 1",
  "import runtime\ndef main():\n  return runtime.result(output={'a': ['secret' * 20000] * 20}, summary='z' * 1000000)",
];

/**
 * The round trip of a message while hostile runs are active, and the same over a byte pipe while another wrapper serves such runs, so
 * that the CPU load is the same.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureHostile({ folder, bin, say }) {
  const root = join(folder, "skills");
  const slow = join(root, "slow");
  mkdirSync(slow, { recursive: true });
  writeFileSync(join(slow, "SKILL.md"), `---\nname: slow\ndescription: Slow.\n${"\n".repeat(160_000)}---\n`);
  const run = { cwd: folder, env: { ...process.env, ACP_SKILLS_HOME: join(folder, "data") } };
  const wrapper = [process.execPath, bin, "--no-default-roots", "--skills", root, "--", ...agent];
  const ours = openRawEditor(wrapper, run);
  const other = openRawEditor(wrapper, run);
  const bare = openRawEditor(pipe);
  for (const editor of [ours, other, bare]) await openRawSession(editor, { cwd: folder, optIn: false });
  await Promise.all([attack(ours), attack(other)]);

  /** @type {number[]} */
  const added = [];
  /** @type {number[]} */
  const floor = [];
  for (let round = 0; round < rounds; round++) {
    added.push(await worst(ours, ours));
    floor.push(await worst(bare, other));
    say(`round ${round + 1}: p99 ${added[round]?.toFixed(1)} ms, byte pipe ${floor[round]?.toFixed(1)} ms`);
  }
  for (const editor of [ours, other, bare]) await editor.close();
  const difference = summariseDifference(added, floor);
  return [
    {
      what: `round trip of a message during hostile runs: p99 of ${pings}, added to a byte pipe under the same load`,
      unit: "ms",
      ours: difference,
      floor: { is: "byte pipe, p99", value: summarise(floor) },
      target: "p99 ≤ 10 ms",
      holds: difference.median <= 10,
    },
  ];
}

/**
 * The 99th percentile of round trips at one editor during runs of the same or another editor.
 * @param {RawEditor} pinged
 * @param {RawEditor} attacked
 */
async function worst(pinged, attacked) {
  const load = { goOn: true };
  const attacking = (async () => {
    while (load.goOn) await attack(attacked);
  })();
  /** @type {number[]} */
  const times = [];
  for (let count = 0; count < pings; count++) {
    const started = performance.now();
    await pinged.request("session/set_mode", { sessionId: "bench", modeId: "ask" });
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  load.goOn = false;
  await attacking;
  return percentile(times, 0.99);
}

/** @param {RawEditor} editor */
async function attack(editor) {
  const slow = editor.request("_acp-skills/describe_skill", { name: "slow", detail: "full" });
  await Promise.all([
    slow,
    ...attacks.map((code) => editor.request("_acp-skills/run_code", { language: "python", code })),
  ]);
}
