import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { writeCorpus } from "./corpus.js";
import { summarise } from "./measure.js";
import { parseJson } from "./parse-json.js";
import { openRawEditor } from "./raw-editor.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const agent = [process.execPath, fileURLToPath(new URL("processes/raw-agent.js", import.meta.url))];
const skills = 8_000;
const edits = 20;
/** Between two edits of a person: the half second in which no other list follows a long one is over. */
const betweenEdits = 700;

/**
 * Measures one edit among many skills: bytes sent to the editor, and the time until they arrive.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureLargeList({ folder, samples, bin }) {
  const written = writeCorpus(folder, samples, skills);
  const project = join(folder, "project");
  const root = join(project, ".agents", "skills");
  mkdirSync(join(project, ".agents"), { recursive: true });
  renameSync(written.root, root);
  const files = written.files.map((file) => file.replace(written.root, root));
  const commands = await measure(true);
  const deltas = await measure({ notification: true, deltas: true, commands: false });
  return [
    ...toRows("as commands", commands, { list: 2.4e6 }),
    ...toRows("as changes only", deltas, { list: 2.4e6, edit: 2_000 }),
  ];

  /** @param {unknown} optIn */
  async function measure(optIn) {
    const home = join(folder, "home");
    mkdirSync(home, { recursive: true });
    const run = { cwd: project, env: { PATH: process.env["PATH"], HOME: home } };
    const editor = openRawEditor([process.execPath, bin, "--tools", "none", "--", ...agent], run);
    const isCommands = optIn === true;
    const kind = isCommands ? "available_commands_update" : "_acp-skills/skills_update";
    const next = () =>
      new Promise((/** @type {(seen: { bytes: number, line: Buffer, arrived: number }) => void} */ resolve) =>
        editor.onLine((line, arrived) => {
          if (line.includes(kind)) resolve({ bytes: line.length, line, arrived });
        }),
      );
    const first = next();
    const clientCapabilities = isCommands ? {} : { _meta: { "acp-skills": optIn } };
    await editor.request("initialize", { protocolVersion: 1, clientCapabilities });
    await editor.request("session/new", { cwd: project, mcpServers: [] });
    await editor.request("session/set_mode", { sessionId: "bench", modeId: "ask" });
    const { bytes: list, line } = await first;
    const least = leastBytes(line);
    await pause(1_500);
    /** @type {number[]} */
    const bytes = [];
    /** @type {number[]} */
    const times = [];
    for (let edit = 0; edit < edits; edit++) {
      const file = files[(edit * 397) % files.length] ?? "";
      const text = readFileSync(file, "utf8").replace(/^description:.*$/m, `description: Edited ${edit} by ${kind}.`);
      const seen = next();
      const started = performance.now();
      writeFileSync(file, text);
      const { bytes: sent, arrived } = await seen;
      bytes.push(sent);
      times.push(arrived - started);
      await pause(betweenEdits);
    }
    await editor.close();
    return { list, least, bytes, times };
  }
}

/**
 * The size of the names and descriptions alone.
 * @param {Buffer} line
 */
function leastBytes(line) {
  const { params } = /** @type {{ params: { update: Record<string, { name: string, description: string }[]> } }} */ (
    parseJson(line.toString())
  );
  const list = params.update["availableCommands"] ?? params.update["availableSkills"] ?? [];
  return Buffer.byteLength(JSON.stringify(list.map(({ name, description }) => ({ name, description }))));
}

/**
 * @param {string} how
 * @param {{ list: number, least: number, bytes: number[], times: number[] }} measured
 * @param {{ list: number, edit?: number }} targets
 * @returns {Row[]}
 */
function toRows(how, { list, least, bytes, times }, targets) {
  const edit = targets.edit;
  return [
    {
      what: `one edit among ${skills.toLocaleString("en")} skills, ${how}: until its bytes arrive at the editor`,
      unit: "ms",
      ours: summarise(times),
    },
    {
      what: `the whole list of them, ${how}`,
      unit: "MB",
      ours: summarise([list / 1e6]),
      floor: { is: "their names and descriptions alone", value: summarise([least / 1e6]) },
      ratio: summarise([list / least]),
      target: "≤ 2.4 MB",
      holds: list <= targets.list,
    },
    {
      what: `bytes of that edit, ${how}`,
      unit: "kB",
      ours: summarise(bytes.map((count) => count / 1000)),
      ...(edit !== undefined && { target: "≤ 2 kB", holds: Math.max(...bytes) <= edit }),
    },
  ];
}
