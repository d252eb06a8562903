import type { SkillsErrorCode } from "../errors.ts";
import type { SettingsData } from "../options.ts";
import type { Skill } from "../skills/skill.ts";

/** What a worker starts with. */
export interface SkillsData {
  readonly settings: SettingsData;
  readonly opening: Opening;
}

export interface Opening {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  /** Whether the caller decides which skills are visible: it is asked at each call. */
  readonly asksVisible: boolean;
}

/** Who calls. */
export interface CallFacts {
  readonly sessionId: string | undefined;
  readonly owner: string | undefined;
  readonly project: string | undefined;
}

/** A number given to each version of each skill that the caller was shown. */
export type SkillNumber = number;

export type ToSkills =
  | ({ readonly kind: "call"; readonly call: number; readonly name: string; readonly args: unknown } & CallFacts)
  | { readonly kind: "abort"; readonly call: number }
  /** Which of the skills that the caller was shown are not visible now. */
  | { readonly kind: "hidden"; readonly call: number; readonly numbers: readonly SkillNumber[] }
  | { readonly kind: "close" };

export type FromSkills =
  /** The skills have been read. */
  | { readonly kind: "opened" }
  | { readonly kind: "result"; readonly call: number; readonly value: unknown }
  | { readonly kind: "error"; readonly call: number; readonly error: PlainError }
  | { readonly kind: "print"; readonly call: number; readonly text: string }
  /** Skills that the caller has not been shown yet, and those that are gone; asks which of all are hidden. */
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
