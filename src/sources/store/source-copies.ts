import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import path from "node:path";
import { attempt } from "../../base/failures/system-error.ts";
import { namesIn } from "../../base/paths/directories.ts";
import type { Turn, TurnLock } from "../../base/processes/turn-lock.ts";
import type { Source } from "../source.ts";
import type { SkillStore } from "./skill-store.ts";
import {
  type SourcePaths,
  type SourceState,
  type StorePaths,
  copyPath,
  formatState,
  makeSourcePaths,
  makeStorePaths,
  newState,
  readState,
  sourcePaths,
} from "./store-paths.ts";

export interface SourceCopiesOptions {
  readonly source: Source;
  readonly paths: StorePaths;
  readonly store: SkillStore;
  readonly turns: TurnLock;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
}

/** A link that is wrong, and its right target; undefined if the link must not exist. */
interface Difference {
  readonly link: string;
  readonly target: string | undefined;
}

/** The maximum number of links that change in one turn, because a process loses a turn that takes long. */
const linksInTurn = 256;

/**
 * The state of one source, and the links that follow from it. The state is replaced first: a process that dies in between leaves links to
 * older versions, which the next process corrects.
 */
export class SourceCopies {
  readonly source: Source;
  readonly store: SkillStore;
  readonly now: () => number;
  readonly #paths: StorePaths;
  readonly #turns: TurnLock;
  readonly #own: SourcePaths;

  constructor({ source, paths, store, turns, now }: SourceCopiesOptions) {
    this.source = source;
    this.store = store;
    this.now = now;
    this.#paths = paths;
    this.#turns = turns;
    this.#own = sourcePaths(paths, source);
  }

  /** Creates missing directories. Throws UNREADABLE if others could write there. */
  open(): void {
    makeStorePaths(this.#paths);
    makeSourcePaths(this.#own);
  }

  /** Reads the state from disk; a new one if there is none. */
  state(): SourceState {
    return readState(this.#own.state) ?? newState(this.source, this.now());
  }

  /** Returns the total size of the copies of all other sources, in bytes. */
  otherBytes(): number {
    const others = statesIn(this.#paths).filter(({ directory }) => directory !== this.#own.directory);
    return others.flatMap(({ state }) => state?.skills ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Replaces the state, then the links. `change` gets the state on disk, and may be called again; undefined: nothing changes. */
  async change(change: (before: SourceState) => SourceState | undefined): Promise<SourceState> {
    const changed = await this.#turns.exclusive(async (turn) => {
      const before = this.state();
      const wanted = change(before);
      if (wanted === undefined) return before;
      // A sweep by another process may have removed a copy.
      const skills = wanted.skills.filter((skill) => this.store.has(skill));
      const next = { ...wanted, skills };
      const current = new Set(skills.map(({ digest }) => digest));
      for (const skill of before.skills) if (!current.has(skill.digest)) this.store.touch(skill, this.now());
      await turn.write(this.#own.state, formatState(next));
      return next;
    });
    await this.reconcile();
    return changed;
  }

  /** Corrects the links according to the state. */
  async reconcile(): Promise<void> {
    const turnsNeeded = Math.ceil(this.#differences().length / linksInTurn);
    for (let count = 0; count < turnsNeeded; count++) {
      await this.#turns.exclusive(async (turn) => {
        for (const difference of this.#differences().slice(0, linksInTurn)) await this.#correct(turn, difference);
      });
    }
  }

  async #correct(turn: Turn, { link, target }: Difference): Promise<void> {
    const found = lstatSync(link, { throwIfNoEntry: false });
    if (found?.isSymbolicLink() === false)
      turn.move(link, path.join(this.#paths.trash, randomBytes(8).toString("hex")));
    else if (target === undefined) turn.remove(link);
    if (target !== undefined) await turn.link(link, target);
  }

  #differences(): readonly Difference[] {
    const real = realpathSync.native(this.#paths.store);
    const wanted = new Map(this.state().skills.map((skill) => [skill.slug, copyPath({ store: real }, skill)]));
    const links = new Set(readdirSync(this.#own.skills));
    return [
      ...Array.from(wanted, ([slug, target]) => ({ link: path.join(this.#own.skills, slug), target })).filter(
        ({ link, target }) => !links.has(path.basename(link)) || !leadsTo(link, target),
      ),
      ...Array.from(links, (name) => ({ link: path.join(this.#own.skills, name), target: undefined })).filter(
        ({ link }) => !wanted.has(path.basename(link)),
      ),
    ];
  }
}

/** Whether a path is a link to this target. */
function leadsTo(link: string, target: string): boolean {
  return attempt(() => path.resolve(readlinkSync(link)) === target, false);
}

/** Reads the states of all sources that were ever read. */
export function statesIn(
  paths: StorePaths,
): readonly { readonly directory: string; readonly state: SourceState | undefined }[] {
  return namesIn(paths.sources).map((key) => {
    const { directory, state } = sourcePaths(paths, key);
    return { directory, state: readState(state) };
  });
}
