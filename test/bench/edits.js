import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { writeCorpus } from "./corpus.js";
import { mixedEdits } from "./edit-kinds.js";
import { EditedSkills } from "./edited-skills.js";
import { percentile, summarise } from "./measure.js";
import { openRawEditor, openRawSession } from "./raw-editor.js";
import { seededRandom } from "./seeded-random.js";

/** @import { EditKind } from "./edit-kinds.js" */
/** @import { Edit } from "./edited-skills.js" */
/** @import { Bench } from "./main.js" */
/** @import { RawEditor } from "./raw-editor.js" */
/** @import { Row } from "./report.js" */

const agent = [process.execPath, fileURLToPath(new URL("processes/raw-agent.js", import.meta.url))];
const floor = [process.execPath, fileURLToPath(new URL("processes/see-edits.js", import.meta.url))];
const patience = 3_000;
/** Between two lists of more than 100 kB, as of 1,000 skills, half a second passes: a person who edits by hand does not notice it. */
const rest = 520;
const edits = 100;

/**
 * Measures the time from an edit of one of 1,000 skills until its effect is read from the wrapper.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureEdits({ folder, samples, bin, say }) {
  const project = join(folder, "project");
  const home = join(folder, "home");
  const skills = join(project, ".agents", "skills");
  mkdirSync(join(project, ".agents"), { recursive: true });
  mkdirSync(home);
  const written = writeCorpus(folder, samples, 1_000);
  renameSync(written.root, skills);
  const corpus = { ...written, root: skills, files: written.files.map((file) => file.replace(written.root, skills)) };
  const random = seededRandom(2);
  const edited = new EditedSkills(corpus, random);
  const run = { cwd: project, env: { PATH: process.env["PATH"], HOME: home } };
  const wrapper = [process.execPath, bin, "--", ...agent];

  const before = await measureFloor();
  const optedIn = await measureWrapper(true);
  const commands = await measureWrapper(false);
  const after = await measureFloor();
  const bare = { is: "bare fs.watch", value: summarise([...before, ...after]) };
  return [toRow("opted in", optedIn), toRow("as commands", commands)];

  /**
   * @param {string} how
   * @param {Seen} seen
   * @returns {Row}
   */
  function toRow(how, { times, lost, differences, kilobytes }) {
    const ours = summarise(times);
    const p99 = percentile(times, 0.99);
    return {
      what: `edit → update bytes at the editor, one of 1,000 skills, ${how}`,
      unit: "ms",
      ours,
      floor: bare,
      target: `p50 ≤ 20 ms, p99 ≤ 100 ms, 0 lost of ${edits}`,
      holds: ours.median <= 20 && p99 <= 100 && lost === 0 && differences === 0,
      note: `p99 ${p99.toFixed(0)} ms, ${lost} lost, ${differences} different at the end; ${kilobytes.toFixed(0)} kB of updates per edit`,
    };
  }

  async function measureFloor() {
    const editor = openRawEditor([...floor, skills], run);
    await new Promise((resolve) => editor.onLine(resolve));
    const { times } = await makeEdits(editor, 0);
    await editor.close();
    return times;
  }

  /**
   * @param {boolean} optIn
   */
  async function measureWrapper(optIn) {
    const editor = openRawEditor(wrapper, run);
    const told = new Promise((resolve) => editor.onLine((line) => line.includes('_update"') && resolve(line)));
    await openRawSession(editor, { cwd: project, optIn });
    await told;
    await pause(500);
    const seen = await makeEdits(editor, rest);
    await editor.close();
    return seen;
  }

  /**
   * @param {RawEditor} editor
   * @param {number} atLeast milliseconds between one edit and the next
   * @returns {Promise<Seen>}
   */
  async function makeEdits(editor, atLeast) {
    /** @type {Map<EditKind, number[]>} */
    const byKind = new Map();
    /** @type {Buffer} */
    let last = Buffer.alloc(0);
    let lost = 0;
    let bytes = 0;
    for (const kind of mixedEdits(edits, random)) {
      // Edits happen at random times after the previous one.
      await pause(atLeast + random() * 40);
      const edit = edited.plan(kind);
      const arrived = await makeEdit(editor, edit, (line) => {
        last = line;
        bytes += line.length;
      });
      if (arrived === undefined) {
        lost++;
        say(`lost: ${kind}`);
      } else byKind.set(kind, [...(byKind.get(kind) ?? []), arrived]);
    }
    await pause(300);
    for (const [kind, times] of byKind) {
      const [p50, p99] = [0.5, 0.99].map((fraction) => percentile(times, fraction).toFixed(1));
      say(`${kind}: p50 ${p50 ?? ""} ms, p99 ${p99 ?? ""} ms, n ${times.length}`);
    }
    return {
      times: [...byKind.values()].flat(),
      lost,
      differences: edited.differences(last),
      kilobytes: bytes / edits / 1000,
    };
  }
}

/**
 * @typedef {{ readonly times: number[], readonly lost: number, readonly differences: number, readonly kilobytes: number }} Seen
 */

/**
 * Performs one edit; resolves with the milliseconds until it was seen, or undefined if it never was.
 * @param {RawEditor} editor
 * @param {Edit} edit
 * @param {(line: Buffer) => void} remember
 * @returns {Promise<number | undefined>}
 */
async function makeEdit(editor, edit, remember) {
  const given = new AbortController();
  const started = performance.now();
  const shown = new Promise((/** @type {(milliseconds: number) => void} */ resolve) =>
    editor.onLine((line, arrived) => {
      if (line.includes('_update"')) remember(line);
      if (edit.shows(line)) resolve(arrived - started);
    }),
  );
  await edit.perform();
  const late = pause(patience, undefined, { signal: given.signal }).catch(() => undefined);
  const milliseconds = await Promise.race([shown, late]);
  given.abort();
  return milliseconds;
}
