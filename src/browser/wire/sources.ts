import * as z from "zod";
import type { ShownSignature } from "./skills.ts";

/** The scopes of an installation: the project, or everything of the user. */
export const scopeNames = ["project", "global"] as const;

export type ScopeName = (typeof scopeNames)[number];

/** `GET /api/sources`: the skills installed from sources, by the lock of each scope. */
export interface SourceList {
  readonly places: readonly {
    readonly place: ScopeName;
    /** The directory of the scope's skills, with `~` for the home directory. */
    readonly directory: string;
    /** Why the lock or the directory cannot be read. */
    readonly fault?: string | undefined;
    readonly skills: readonly InstalledSkill[];
    /** How many more skills the lock has. */
    readonly more: number;
  }[];
}

export interface InstalledSkill {
  /** The name in the lock. */
  readonly name: string;
  readonly source: string;
  readonly version?: string | undefined;
  /** Whether the files are those of the lock. `unknown`: the files cannot be compared. */
  readonly state: "verified" | "modified" | "missing" | "unknown";
  /** The differences of the files, in words. */
  readonly changes?: readonly string[] | undefined;
}

/** `POST /api/sources/discover` `{source}`. */
export interface Discovered {
  readonly source: string;
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly version?: string | undefined;
    /** The scopes in which the skill is installed from this source. */
    readonly installed: readonly ScopeName[];
    /** Why the skill cannot be installed. */
    readonly unusable?: string | undefined;
  }[];
  /** How many more skills the source offers. */
  readonly more: number;
  /** The skills and files that could not be read, with reasons. */
  readonly problems: readonly string[];
}

export const sourceText = z.string().max(2_048);
const name = z.string().min(1).max(256);
const scopeName = z.enum(scopeNames);

/** The skills that a plan is for. `update`: names of the scope's lock; an empty list stands for all. */
export const planRequest = z.union([
  z.strictObject({ place: scopeName, source: sourceText, names: z.array(name).min(1).max(50) }),
  z.strictObject({ place: scopeName, update: z.array(name).max(500) }),
]);

export type PlanRequest = Readonly<z.infer<typeof planRequest>>;

/** The answer to `POST /api/sources/plan`. Nothing is written until `POST /api/sources/apply` `{plan, nonce}`. */
export interface SourcePlan {
  readonly plan: string;
  readonly nonce: string;
  readonly directory: string;
  /** The planned changes; skills without a change are left out. */
  readonly changes: readonly PlannedChange[];
  /** Sources, or entries of the lock, that could not be read. */
  readonly problems: readonly string[];
}

export interface PlannedChange {
  readonly name: string;
  readonly source: string;
  /** `note`: the files are there already, so only the lock is written. */
  readonly action: "install" | "update" | "note";
  readonly description: string;
  /** The installed version. */
  readonly from?: string | undefined;
  readonly to: string;
  /** Whether the new bytes differ though the version is the same. */
  readonly isSameVersion?: true | undefined;
  /** The permissions requested beyond those of the installed version, in words; all of them for a new skill. */
  readonly widened: readonly string[];
  /** The permissions that the skill requests, in words. */
  readonly wants: readonly string[];
  readonly signature: ShownSignature;
  /** The problems that `acp-skills check` finds in the skill. */
  readonly problems: readonly { readonly severity: string; readonly words: string }[];
  readonly files: readonly PlannedFile[];
  readonly moreFiles: number;
  /** Why the change is refused. */
  readonly refused?: string | undefined;
}

export interface PlannedFile {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  /** A unified diff; absent for a file that is not text, or too long. */
  readonly diff?: string | undefined;
}

/** The answer of `POST /api/sources/apply`. */
export interface AppliedPlan {
  readonly directory: string;
  /** The names in the lock of the installed skills. */
  readonly done: readonly string[];
}
