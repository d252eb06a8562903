import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { OfferedSkill, Skill } from "./skill.ts";
import { matchRequirement, summarise } from "./environment/match-requirement.ts";
import { sandboxNeeds, sandboxRequirement, statedRequirements } from "./environment/requirements-of.ts";
import type { Requirement, System } from "./environment/requirement.ts";

export { hostMachine } from "./environment/host-machine.ts";
export { describeDemand } from "./environment/requirement.ts";
export { matchSkill, summarise } from "./environment/match-requirement.ts";
export { readFileRequirements, statedRequirements } from "./environment/requirements-of.ts";

export interface SkillEnvironmentsOptions {
  /** Called when skills first require something, and again to check whether missing requirements are met now. */
  readonly openMachine: () => Machine;
  /** Called when a skill first requires a feature that not every sandbox supports. */
  readonly findSandbox?: NonNullable<EnvironmentProbes["findSandbox"]> | undefined;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
}

/** The minimum time in milliseconds before missing requirements are checked again, when skills are prepared. */
const missingFor = 60_000;
/** The maximum number of different requirements; further ones are not checked. */
const maxEntries = 5_000;
/** Milliseconds of work before other work gets a turn. */
const slice = 3;

/** Skills with the same requirements. */
interface Entry {
  readonly skill: Skill;
  /** Undefined if nothing is required, and as long as the answer is not known. */
  summary: Summary | undefined;
}

/**
 * Finds out in the background whether this machine satisfies the requirements of skills, from their frontmatter and permissions. No caller
 * waits for it. A process needs only one, so that each program is looked up once.
 */
export class SkillEnvironments {
  readonly #options: SkillEnvironmentsOptions;
  readonly #listeners = new Set<(isMissing: boolean) => void>();
  readonly #closing = new AbortController();
  #machine: Machine | undefined;
  #entries = new Map<string, Entry>();
  #waiting: Entry[] = [];
  #isWorking = false;
  #missingSince: number | undefined;

  constructor(options: SkillEnvironmentsOptions) {
    this.#options = options;
  }

  /** Undefined if the skill requires nothing, and as long as the answer is not known. One object while nothing changes. */
  of(skill: Skill): Summary | undefined {
    const needs = this.#needsOf(skill);
    const { compatibility, requires } = skill;
    if (compatibility === undefined && requires === undefined && needs.length === 0) return undefined;
    // Requirements that are stated in words are not checked, so the words do not matter.
    const text = JSON.stringify([compatibility !== undefined, requires, needs]);
    const known = this.#entries.get(text);
    if (known !== undefined) return known.summary;
    if (this.#entries.size < maxEntries) this.#add(text, skill);
    return undefined;
  }

  /** Whether requirements are still being checked. */
  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** Starts checking before any caller needs the result. */
  prepare(skills: readonly OfferedSkill[]): void {
    if (this.#missingSince !== undefined && this.#options.clock.now() - this.#missingSince >= missingFor) {
      this.#machine = undefined;
      this.#entries = new Map();
      this.#missingSince = undefined;
    }
    for (const { skill } of skills) this.of(skill);
  }

  /**
   * Calls back when all requirements have been checked, with whether any is missing. The listener must not throw. Returns a function that
   * removes it.
   */
  onKnown(listener: (isMissing: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Ends all running checks. Idempotent. */
  close(): void {
    this.#closing.abort();
    this.#listeners.clear();
  }

  /** The features that the skill's sandbox must support. If none, no sandbox is opened: this is called for every skill of a list. */
  #needsOf(skill: Skill): readonly string[] {
    return this.#options.findSandbox === undefined ? [] : sandboxNeeds(skill);
  }

  #add(text: string, skill: Skill): void {
    const entry = { skill, summary: undefined };
    this.#entries.set(text, entry);
    this.#waiting.push(entry);
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#work().catch((error: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#options.log("warning", `What skills require of this machine is not known: ${String(error)}`);
    });
  }

  async #work(): Promise<void> {
    let isMissing = false;
    let pauseAt = 0;
    for (let entry = this.#waiting.shift(); entry !== undefined; entry = this.#waiting.shift()) {
      const matches: Match[] = [];
      const sandbox = this.#needsOf(entry.skill).length > 0 ? sandboxRequirement(entry.skill) : undefined;
      for (const requirement of [...statedRequirements(entry.skill), ...(sandbox === undefined ? [] : [sandbox])]) {
        if (this.#options.clock.now() >= pauseAt) {
          await new Promise((resolve) => setImmediate(resolve));
          pauseAt = this.#options.clock.now() + slice;
        }
        if (this.#closing.signal.aborted) return;
        const machine = (this.#machine ??= this.#options.openMachine());
        const { findSandbox } = this.#options;
        matches.push(await matchRequirement(requirement, { machine, ...(findSandbox && { findSandbox }) }));
      }
      entry.summary = summarise(matches);
      isMissing ||= entry.summary?.status === "missing";
    }
    this.#isWorking = false;
    if (isMissing) this.#missingSince ??= this.#options.clock.now();
    for (const listener of [...this.#listeners]) listener(isMissing);
  }
}

/** A command on PATH. */
export interface FoundCommand {
  readonly path: string;
  /** Set if the command only offers to install the program: whether the program is installed is not known. */
  readonly isPlaceholder?: boolean;
}

/**
 * The port to the machine that skills are matched to. Answers are cached, so it describes one moment. It runs no program, and never uses
 * the network.
 */
export interface Machine {
  /** Undefined for a system that skills have no name for. */
  readonly system: System | undefined;
  /** The first command of this name on PATH; undefined if there is none, or if the name cannot be one. */
  find(command: string): FoundCommand | undefined;
  /** Whether an environment variable has a value. */
  hasVariable(name: string): boolean;
}

/** `missing` and `met` are facts; everything uncertain is `unknown`. */
export type Status = "met" | "missing" | "unknown";

/** The result of checking one requirement on this machine. */
export interface Match {
  readonly requirement: Requirement;
  readonly status: Status;
  /** The evidence that was found, or why nothing is known. */
  readonly evidence: string;
  /** The action that the user can take. */
  readonly advice?: string;
}

/** Checks that only the caller can make. Requirements whose check is absent are `unknown`. */
export interface EnvironmentProbes {
  readonly machine: Machine;
  readonly hasSecret?: (name: string) => Promise<boolean>;
  /** The version of an installed skill that satisfies `a.b@^1`. */
  readonly findSkill?: (dependency: string) => string | undefined;
  /** Whether `acp-skills install` has installed what the skill requires. */
  readonly hasPackages?: () => Promise<boolean>;
  /** The sandbox that isolates code, or why there is none. */
  readonly findSandbox?: () => Promise<FoundSandbox>;
}

export type FoundSandbox = SandboxAbilities | { readonly reason: string };

/** The sandbox that isolates code: `lacks` are the features that it does not support, `remedy` the way to get them. */
interface SandboxAbilities {
  readonly tier: string;
  readonly lacks: Readonly<Record<string, string>>;
  readonly remedy?: string;
}

/** The result for all requirements of a skill. */
export interface Summary {
  readonly status: Status;
  /** The missing requirements, in words. */
  readonly missing: readonly string[];
}
