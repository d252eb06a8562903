import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/**
 * The ways in which editors and users change a SKILL.md. `file` exists, except for "create".
 * @type {Record<EditKind, (directory: string, text: string) => void | Promise<void>>}
 */
export const performEdit = {
  "in place": (directory, text) => {
    const file = openSync(join(directory, "SKILL.md"), "r+");
    ftruncateSync(file, writeSync(file, text));
    closeSync(file);
  },
  "truncate, then write": async (directory, text) => {
    const file = openSync(join(directory, "SKILL.md"), "w");
    await pause(2);
    writeSync(file, text);
    closeSync(file);
  },
  "atomic rename": (directory, text) => {
    const draft = join(directory, ".SKILL.md.draft");
    writeFileSync(draft, text);
    renameSync(draft, join(directory, "SKILL.md"));
  },
  "rename away, then write": (directory, text) => {
    const file = join(directory, "SKILL.md");
    renameSync(file, `${file}~`);
    writeFileSync(file, text);
    unlinkSync(`${file}~`);
  },
  create: (directory, text) => {
    mkdirSync(directory);
    writeFileSync(join(directory, "SKILL.md"), text);
  },
  delete: (directory) => {
    rmSync(directory, { recursive: true });
  },
  "rename, then write": (directory, text) => {
    renameSync(directory, `${directory}-moved`);
    writeFileSync(join(`${directory}-moved`, "SKILL.md"), text);
  },
};

/**
 * @typedef {"in place" | "truncate, then write" | "atomic rename" | "rename away, then write" | "create" | "delete" | "rename, then write"} EditKind
 */

/** The number of each kind in 500 edits. */
const shares = /** @type {const} */ ({
  "in place": 150,
  "truncate, then write": 75,
  "atomic rename": 125,
  "rename away, then write": 50,
  create: 40,
  delete: 30,
  "rename, then write": 30,
});

/**
 * @param {number} count
 * @param {() => number} random
 * @returns {EditKind[]}
 */
export function mixedEdits(count, random) {
  const kinds = /** @type {EditKind[]} */ (Object.keys(shares));
  const mix = kinds.flatMap((kind) => Array.from({ length: Math.round((shares[kind] * count) / 500) }, () => kind));
  return mix
    .map((kind) => ({ kind, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ kind }) => kind);
}
