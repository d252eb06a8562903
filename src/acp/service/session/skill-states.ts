import { existsSync } from "node:fs";
import path from "node:path";
import type { App } from "../../../runtime/app.ts";
import type { Standings } from "../../../runtime/runs.ts";
import { isNothing, permissionsOf } from "../../../skills/permissions.ts";
import type { OfferedSkill, Skill } from "../../../skills/skill.ts";

interface SkillStatesOptions {
  readonly app: Pick<App, "trust" | "source" | "hasher">;
  readonly dataDirectory: string;
  readonly owner: string;
  /** The directory of the session's project. */
  readonly directory: string | undefined;
  /** Called when the first inspection is over, and when a state changed. Must not throw. */
  readonly changed: () => void;
  /** Called when the states of skills cannot be determined. */
  readonly failed: (error: unknown) => void;
}

const none: Standings = new Map();

/** The reasons why skills cannot be used in a session. They are determined in the background, and again after each approval or block. */
export class SkillStates {
  readonly #options: SkillStatesOptions;
  readonly #closing = new AbortController();
  #standings = none;
  #skills: readonly OfferedSkill[] = [];
  /** Whether the states of the latest skills are still being determined. */
  isReading = false;
  #hasRead = false;
  #mustReadAgain = false;
  #stopListening: (() => void) | undefined;

  constructor(options: SkillStatesOptions) {
    this.#options = options;
  }

  /** Returns the state of a skill; undefined if the skill can be used, or as long as the state is unknown. */
  of(skill: Skill): ReturnType<Standings["get"]> {
    return this.#standings.get(skill);
  }

  /** Determines the states of these skills. */
  inspect(skills: readonly OfferedSkill[]): void {
    this.#skills = skills;
    this.#mustReadAgain = true;
    if (this.isReading || this.#closing.signal.aborted) return;
    this.isReading = true;
    this.#work().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#options.failed(error);
    });
  }

  close(): void {
    this.#closing.abort();
    this.#stopListening?.();
  }

  async #work(): Promise<void> {
    let isChanged = !this.#hasRead;
    try {
      while (this.#mustReadAgain) {
        this.#mustReadAgain = false;
        const found = await this.#find(this.#skills);
        if (this.#closing.signal.aborted) return;
        const before = this.#standings;
        this.#standings = found;
        const isSame = found.size === before.size && [...found].every(([skill, state]) => before.get(skill) === state);
        isChanged ||= !isSame;
      }
    } finally {
      this.isReading = false;
      this.#hasRead = true;
    }
    if (isChanged) this.#options.changed();
  }

  /** Finds the states. Trust is not loaded if no skill requests permissions and nothing was ever approved or blocked on this machine. */
  async #find(skills: readonly OfferedSkill[]): Promise<Standings> {
    const { app, dataDirectory, owner, directory } = this.#options;
    const isWanting = skills.some(({ skill }) => !isNothing(permissionsOf(skill)));
    if (!isWanting && !existsSync(path.join(dataDirectory, "trust"))) return none;
    const [trust, { findStandings }] = await Promise.all([app.trust(), import("../../../runtime/runs.ts")]);
    const { signal } = this.#closing;
    signal.throwIfAborted();
    this.#stopListening ??= trust.onChange(() => this.inspect(this.#skills));
    const { source, hasher } = app;
    return await findStandings(skills, { trust, source, hasher, caller: { owner, directory }, signal });
  }
}
