import { basename, dirname, join } from "node:path";
import { performEdit } from "./edit-kinds.js";

/** @import { EditKind } from "./edit-kinds.js" */
/** @import { Corpus } from "./corpus.js" */

/**
 * A planned edit: perform it, then wait for a line for which `shows` returns true.
 * @typedef {object} Edit
 * @property {EditKind} kind
 * @property {() => Promise<void>} perform
 * @property {(line: Buffer) => boolean} shows
 */

/**
 * The skills of a corpus while they are edited. Every edit puts a unique mark into the skill's description, by which it is
 * recognised in updates.
 */
export class EditedSkills {
  /** @type {string[]} */
  #directories;
  /** @type {Map<string, string>} */
  #marks = new Map();
  /** @type {string} */
  #root;
  #count = 0;
  /** @type {() => number} */
  #random;

  /**
   * @param {Corpus} corpus
   * @param {() => number} random
   */
  constructor({ root, files }, random) {
    this.#root = root;
    this.#directories = files.map((file) => dirname(file));
    this.#random = random;
  }

  /**
   * @param {EditKind} kind
   * @returns {Edit}
   */
  plan(kind) {
    const mark = `mark-${String(++this.#count).padStart(6, "0")}-`;
    const directory = this.#choose(kind);
    const before = this.#marks.get(directory);
    const text = `---\nname: edited-${this.#count}\ndescription: Edited by someone, ${mark} is what to look for.\n---\n\n# Edited\n`;
    this.#remember(kind, directory, mark);
    return {
      kind,
      perform: async () => performEdit[kind](directory, text),
      shows: (line) =>
        line.includes('_update"') &&
        (kind === "delete" ? before === undefined || !line.includes(before) : line.includes(mark)),
    };
  }

  /**
   * The marks on disk that are missing in a line, and those in the line that no longer exist.
   * @param {Buffer} line
   */
  differences(line) {
    const shown = new Set(line.toString("latin1").match(/mark-\d{6}-/g) ?? []);
    const there = new Set(this.#marks.values());
    return [...there].filter((mark) => !shown.has(mark)).length + [...shown].filter((mark) => !there.has(mark)).length;
  }

  /** @param {EditKind} kind */
  #choose(kind) {
    if (kind === "create") return join(this.#root, `created-${this.#count}`);
    // Only a skill that was announced can be reported as removed.
    const from = kind === "delete" && this.#marks.size > 0 ? [...this.#marks.keys()] : this.#directories;
    return from[Math.floor(this.#random() * from.length)] ?? "";
  }

  /**
   * @param {EditKind} kind
   * @param {string} directory
   * @param {string} mark
   */
  #remember(kind, directory, mark) {
    this.#marks.delete(directory);
    const left = this.#directories.filter((other) => other !== directory);
    if (kind === "delete") {
      this.#directories = left;
      return;
    }
    const now = kind === "rename, then write" ? join(this.#root, `${basename(directory)}-moved`) : directory;
    this.#directories = [...left, now];
    this.#marks.set(now, mark);
  }
}
