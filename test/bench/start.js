import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
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
  const chats = await chatBesideOther({ ours: wrapper, pipe, agent }, cwd);
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
    ...chats,
    {
      what: "spawn → 200 skills at the editor, including a delay of 50 ms",
      unit: "ms",
      ours: summarise(told.ours),
    },
  ];
}

/**
 * The first chat while another process uses a processor all the time: editors start language servers, agents install packages.
 * @param {Record<"ours" | "pipe" | "agent", readonly string[]>} commands
 * @param {string} cwd
 * @returns {Promise<Row[]>}
 */
async function chatBesideOther({ ours, pipe: through, agent: alone }, cwd) {
  const busy = spawn(process.execPath, ["--eval", "for (;;);"], { stdio: "ignore" });
  /** @type {Record<"ours" | "pipe", number[]>} */
  const used = { ours: [], pipe: [] };
  const chat = (/** @type {readonly string[]} */ command, /** @type {number[]} */ times) => async () => {
    const { milliseconds, processor } = await timeToChat(command, cwd);
    times.push(processor);
    return milliseconds;
  };
  const chats = await alternate(
    { ours: chat(ours, used.ours), pipe: chat(through, used.pipe), agent: chat(alone, []) },
    11,
  );
  busy.kill();
  const added = summariseDifference(chats.ours, chats.agent);
  return [
    {
      what: "spawn → first prompt answered beside one busy process, added to the agent alone, 200 skills",
      unit: "ms",
      ours: added,
      floor: { is: "byte pipe", value: summariseDifference(chats.pipe, chats.agent) },
      target: "≤ +150 ms",
      holds: added.median <= 150,
    },
    {
      what: "processor time until then, without the agent's",
      unit: "ms",
      ours: summarise(used.ours),
      floor: { is: "byte pipe", value: summarise(used.pipe) },
    },
  ];
}

/**
 * @param {readonly string[]} command
 * @param {string} cwd
 */
async function timeToChat(command, cwd) {
  const started = performance.now();
  const editor = openRawEditor(command);
  await editor.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await editor.request("session/new", { cwd, mcpServers: [] });
  await editor.request("session/prompt", { sessionId: "bench", prompt: [{ type: "text", text: "Hello." }] });
  const milliseconds = performance.now() - started;
  const processor = processorTime(editor.pid);
  await editor.close();
  return { milliseconds, processor };
}

/** What a process has used of all processors, in milliseconds. Linux only: elsewhere 0. @param {number} pid */
function processorTime(pid) {
  if (process.platform !== "linux") return 0;
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ");
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
  // In ticks, of which Linux has 100 a second.
  return (user + system) * 10;
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
