import type { SkillsErrorCode } from "../errors.ts";
import type { SettingsData } from "../options.ts";
import type { Problem } from "../skills/rules/problem.ts";
import type { Skill } from "../skills/skill.ts";

/** The data with which a worker is started. */
export interface SkillsData {
  readonly settings: SettingsData;
  readonly opening: Opening;
}

export interface Opening {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Whether the other end decides which skills are visible; it is asked at each call. */
  readonly asksVisible: boolean;
}

/** The caller of a tool. */
export interface CallFacts {
  readonly sessionId: string | undefined;
  readonly owner: string | undefined;
  readonly project: string | undefined;
}

/** Identifies a version of a skill that was sent to the caller. */
export type SkillNumber = number;

export type ToSkills =
  | ({ readonly kind: "call"; readonly call: number; readonly name: string; readonly args: unknown } & CallFacts)
  | { readonly kind: "abort"; readonly call: number }
  /** Which of the skills sent so far are not visible now. */
  | { readonly kind: "hidden"; readonly call: number; readonly numbers: readonly SkillNumber[] }
  | { readonly kind: "close" };

/** Which skills changed, by canonical name. */
export interface SkillsChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

export type FromSkills =
  /** The skills have been read. */
  | { readonly kind: "opened" }
  /** Before `opened`, and after every change. */
  | { readonly kind: "skills"; readonly problems: readonly Problem[]; readonly change?: SkillsChange }
  | { readonly kind: "result"; readonly call: number; readonly value: unknown }
  | { readonly kind: "error"; readonly call: number; readonly error: PlainError }
  | { readonly kind: "print"; readonly call: number; readonly text: string }
  /** Skills that were not sent before, and removed ones; asks which of all are hidden. */
  | {
      readonly kind: "see";
      readonly call: number;
      readonly skills: readonly (readonly [SkillNumber, Skill])[];
      readonly gone: readonly SkillNumber[];
    }
  | { readonly kind: "log"; readonly level: "info" | "warning" | "error"; readonly message: string };

/** A SkillsError as data. */
export interface PlainError {
  readonly code: SkillsErrorCode;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly cause: string | undefined;
}
