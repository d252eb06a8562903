import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeCorpus } from "./corpus.js";
import { alternate, summarise, summariseDifference } from "./measure.js";
import { openRawEditor } from "./raw-editor.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const agent = [process.execPath, fileURLToPath(new URL("processes/raw-agent.js", import.meta.url))];
const pipe = [process.execPath, fileURLToPath(new URL("processes/byte-pipe.js", import.meta.url)), ...agent];

/**
 * Measures the time from spawn until initialize is answered, and until the editor has received the session's skills.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureStart({ folder, samples, bin }) {
  const { root } = writeCorpus(folder, samples, 200);
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const wrapper = [process.execPath, bin, "--no-default-roots", "--skills", root, "--", ...agent];
  const start = (/** @type {string[]} */ command) => () => timeToInitialized(command);
  const runs = await alternate({ ours: start(wrapper), pipe: start(pipe), agent: start(agent) }, 15);
  const told = await alternate({ ours: () => timeToSkills(wrapper, cwd) }, 7);
  const opening = (/** @type {string[]} */ command, /** @type {number} */ pause) => () =>
    timeToFirstSession(command, cwd, pause);
  const sessions = await alternate({ ours: opening(wrapper, boot), agent: opening(agent, boot) }, 9);
  const addedBySession = summariseDifference(sessions.ours, sessions.agent);
  const early = await alternate({ ours: opening(wrapper, 0), agent: opening(agent, 0) }, 20);
  const addedEarly = summariseDifference(early.ours, early.agent);
  const added = summariseDifference(runs.ours, runs.agent);
  return [
    {
      what: "spawn → initialize answered, added to the agent alone, 200 skills",
      unit: "ms",
      ours: added,
      floor: { is: "byte pipe", value: summariseDifference(runs.pipe, runs.agent) },
      target: "≤ +120 ms",
      holds: added.median <= 120,
      note: `the agent alone: ${summarise(runs.agent).median.toFixed(0)} ms`,
    },
    {
      what: "first session/new, added to the agent alone, as soon as initialize is answered, 200 skills",
      unit: "ms",
      ours: addedEarly,
      floor: { is: "the agent alone", value: summarise(early.agent) },
      target: "≤ +60 ms",
      holds: addedEarly.median <= 60,
    },
    {
      what: "first session/new, added to the agent alone, half a second after the spawn, 200 skills",
      unit: "ms",
      ours: addedBySession,
      target: "≤ +40 ms",
      holds: addedBySession.median <= 40,
      note: `the agent alone: ${summarise(sessions.agent).median.toFixed(1)} ms`,
    },
    {
      what: "spawn → 200 skills at the editor, including a delay of 50 ms",
      unit: "ms",
      ours: summarise(told.ours),
    },
  ];
}

/** @param {readonly string[]} command */
async function timeToInitialized(command) {
  const started = performance.now();
  const editor = openRawEditor(command);
  await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const milliseconds = performance.now() - started;
  await editor.close();
  return milliseconds;
}

/** The start-up time of a fast agent. */
const boot = 500;

/**
 * @param {readonly string[]} command
 * @param {string} cwd
 * @param {number} pause before the session is asked for
 */
async function timeToFirstSession(command, cwd, pause) {
  const editor = openRawEditor(command);
  await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  const asked = performance.now();
  await editor.request("session/new", { cwd, mcpServers: [] });
  const milliseconds = performance.now() - asked;
  await editor.close();
  return milliseconds;
}

/**
 * @param {readonly string[]} command
 * @param {string} cwd
 */
async function timeToSkills(command, cwd) {
  const started = performance.now();
  const editor = openRawEditor(command);
  /** @type {Promise<number>} */
  const told = new Promise((resolve) =>
    editor.onLine((line, arrived) => {
      if (line.includes("available_commands_update")) resolve(arrived - started);
    }),
  );
  await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await editor.request("session/new", { cwd, mcpServers: [] });
  const milliseconds = await told;
  await editor.close();
  return milliseconds;
}
