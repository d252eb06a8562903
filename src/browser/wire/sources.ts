import * as z from "zod";
import type { ShownSignature } from "./skills.ts";

/** Where skills are installed: in the project, or for this person. */
export const scopeNames = ["project", "global"] as const;

export type ScopeName = (typeof scopeNames)[number];

/** `GET /api/sources`: what is installed from elsewhere, by the lock of each place. */
export interface SourceList {
  readonly places: readonly {
    readonly place: ScopeName;
    /** The directory of its skills, as people see it. */
    readonly directory: string;
    /** Why what is there cannot be read. */
    readonly fault?: string | undefined;
    readonly skills: readonly InstalledSkill[];
    /** How many more the lock has. */
    readonly more: number;
  }[];
}

export interface InstalledSkill {
  /** The name in the lock. */
  readonly name: string;
  readonly source: string;
  readonly version?: string | undefined;
  /** Whether the files are those of the lock. `unknown`: the lock does not say which they are. */
  readonly state: "verified" | "modified" | "missing" | "unknown";
  /** How they differ, in words. */
  readonly changes?: readonly string[] | undefined;
}

/** `POST /api/sources/discover` `{source}`. */
export interface Discovered {
  readonly source: string;
  readonly skills: readonly {
    readonly name: string;
    readonly description: string;
    readonly version?: string | undefined;
    /** Where it is installed from this source. */
    readonly installed: readonly ScopeName[];
    /** Why it cannot be installed. */
    readonly unusable?: string | undefined;
  }[];
  /** How many more it offers. */
  readonly more: number;
  /** What could not be read. */
  readonly problems: readonly string[];
}

export const sourceText = z.string().max(2_048);
const name = z.string().min(1).max(256);
const place = z.enum(scopeNames);

/** What a plan is made for. `update`: names of the place's lock; none stands for all. */
export const planRequest = z.union([
  z.strictObject({ place, source: sourceText, names: z.array(name).min(1).max(50) }),
  z.strictObject({ place, update: z.array(name).max(500) }),
]);

export type PlanRequest = Readonly<z.infer<typeof planRequest>>;

/** `POST /api/sources/plan`: what would be installed. Nothing is written until `POST /api/sources/apply` `{plan, nonce}`. */
export interface SourcePlan {
  readonly plan: string;
  readonly nonce: string;
  readonly directory: string;
  /** Skills without a change are not among them. */
  readonly changes: readonly PlannedChange[];
  /** Sources, or entries of the lock, that could not be read. */
  readonly problems: readonly string[];
}

export interface PlannedChange {
  readonly name: string;
  readonly source: string;
  /** `note`: its files are there already, and only the lock is written. */
  readonly action: "install" | "update" | "note";
  readonly description: string;
  /** The version that is installed. */
  readonly from?: string | undefined;
  readonly to: string;
  /** Other bytes with the same version. */
  readonly isSameVersion?: true | undefined;
  /** What it requests beyond the installed one, in words; of a new one, all that it requests. */
  readonly widened: readonly string[];
  /** What it requests, in words. */
  readonly wants: readonly string[];
  readonly signature: ShownSignature;
  /** What `check` says about it. */
  readonly problems: readonly { readonly severity: string; readonly words: string }[];
  readonly files: readonly PlannedFile[];
  readonly moreFiles: number;
  /** Why it is not done. */
  readonly refused?: string | undefined;
}

export interface PlannedFile {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  /** Unified; absent for a file that is not text, or too long. */
  readonly diff?: string | undefined;
}

/** The answer of `POST /api/sources/apply`. */
export interface AppliedPlan {
  readonly directory: string;
  /** Names in the lock. */
  readonly done: readonly string[];
}
