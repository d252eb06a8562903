import * as z from "zod";
import { digestForm } from "../../base/text/content.ts";
import type { SkillFacts } from "../../client/select.ts";
import type { Match } from "../../skills/environment.ts";
import type { SkillLicense } from "../../skills/licenses.ts";
import type { DeclaredArgument } from "../../skills/manifest.ts";
import type { Capabilities } from "../../skills/permissions.ts";
import type { SkillAdvice } from "../../skills/check.ts";
import type { Problem } from "../../skills/rules.ts";

/** What the skill browser asks the server of `acp-skills browse`, and what it is answered. JSON; times are milliseconds since 1970. */

/** Why a skill is, or is not, as it should be; the worst one. `invalid`: it is not offered. `changed`: an earlier version was approved. */
export type SkillState =
  "ok" | "warnings" | "needs-approval" | "changed" | "blocked" | "denied" | "shadowed" | "invalid";

/** A skill in the list; its source is what people call the place, such as `~/.agents/skills` or the address of a source. */
export interface SkillRow extends SkillFacts {
  /** The id in this list: the slug, or for what is not offered the path of its file. Stable while the file stays where it is. */
  readonly id: string;
  /** The agent that announced a skill of a store, and what invokes it in a prompt. */
  readonly agent?: string | undefined;
  readonly command?: string | undefined;
  readonly kind: "instruction" | "action";
  readonly version: string;
  readonly namespace: string;
  readonly source: string;
  readonly state: SkillState;
  /** An estimate: what the entry costs in a list that models read, and its instructions when they are read. */
  readonly tokens: { readonly listed: number; readonly instructions: number };
  readonly errors: number;
  readonly warnings: number;
}

/** `GET /api/skills`: every skill, in the order of names. */
export interface SkillList {
  /** Grows with every change. */
  readonly revision: number;
  readonly skills: readonly SkillRow[];
  /** Places that were not read whole, so that skills may be missing. */
  readonly unread: readonly string[];
}

/** The `skills` event: what changed since the revision before. */
export interface SkillListChange {
  readonly revision: number;
  /** Whole rows of what is new or different, by id. */
  readonly put: readonly SkillRow[];
  /** Ids. */
  readonly removed: readonly string[];
}

/**
 * The `reset` event, the first one of a connection that was not resumed, and sent when more than 500 rows change at once: the list has to be read
 * again if it has another revision.
 */
export type Reset = Pick<SkillListChange, "revision">;

/** The `skill` event: the files of a skill that was read differ from what was read. */
export type SkillTouched = Pick<SkillRow, "id">;

/** `GET /api/about`; with `?sandbox`, after the sandbox was found. */
export interface About {
  readonly version: string;
  /** Nothing can be approved, run, installed or opened. */
  readonly readOnly: boolean;
  /** The project's directory, as people write it. */
  readonly directory: string;
  /** Whether code can run here, and in which tier of the sandbox, what that does not support and what would; else why not. Absent where it was not asked for. */
  readonly sandbox?:
    | { readonly tier: string; readonly lacks?: readonly string[] | undefined; readonly remedy?: string | undefined }
    | { readonly unavailable: string };
}

export interface SkillFileEntry {
  /** Relative to the skill's directory. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** One requirement compared with this machine. */
interface EnvironmentMatch extends Omit<Match, "requirement"> {
  readonly requirement: string;
}

/** What something may do beyond its sandbox, and the same in words. */
export interface Wants extends Capabilities {
  readonly words: readonly string[];
}

export interface SkillGrant {
  readonly id: string;
  readonly version: string;
  readonly digest: string;
  readonly words: readonly string[];
  /** Absent: everywhere. */
  readonly project?: string | undefined;
  readonly when: string;
  readonly who: string;
  readonly expires?: string | undefined;
  /** Whether it is for the bytes that are installed now. */
  readonly isCurrent: boolean;
}

/** Permissions: requested, approved, and what changed since. */
/** Who signed a skill, in words. */
export interface ShownSignature {
  readonly state: "signed" | "unsigned" | "invalid";
  readonly words: string;
}

export interface SkillPermissions {
  readonly wants: Wants;
  readonly grants: readonly SkillGrant[];
  readonly isBlocked: boolean;
  /** Why a policy denies it. */
  readonly denied?: { readonly why: string; readonly hint: string } | undefined;
  /** Runs need no approval: it wants nothing beyond its sandbox. */
  readonly isFree: boolean;
  /** Where an approval holds, if nothing else is chosen. */
  readonly reach?: "once" | "session" | "project" | "everywhere" | undefined;
  /** Where a block holds. */
  readonly blockReach?: "project" | "everywhere" | undefined;
  /** Absent if not all files can be read. */
  readonly signature?: ShownSignature | undefined;
  /** What agents that load it themselves run on this machine. */
  readonly hostCommands: readonly string[];
  /** What it wants beyond the version that was approved before, in words. */
  readonly widened: readonly string[];
  /** Files that differ from that version; `diff`: unified, absent for what is binary or too large. */
  readonly changedFiles: readonly { readonly path: string; readonly diff?: string | undefined }[];
}

/** What can be asked for about a skill, besides what every answer has. */
export type SkillPart = "overview" | "manifest" | "problems" | "permissions" | "environment" | "license" | "run";

/**
 * `GET /api/skills/ID?part=PART&…`: what is known about one skill; without a `part`, all of them. Parts of answers with the same digest belong
 * together.
 */
export interface SkillDetail {
  readonly row: SkillRow;
  /** `sha256:…` of all files; absent if they cannot all be read. What is approved and run is exactly this. */
  readonly digest?: string | undefined;
  /** Must come with what is decided about, or run with, this digest: of the parts `permissions` and `run`. Absent if the server is read-only. */
  readonly nonce?: string | undefined;
  /** The body of SKILL.md, at most 1 MiB of it. */
  readonly instructions: { readonly markdown: string; readonly isWhole: boolean };
  /** What people do not see in the rendered text. Offsets are of UTF-16 units in `markdown`. */
  readonly hidden: readonly {
    readonly kind: "zero-width" | "bidi" | "control" | "comment" | "tag-characters";
    readonly start: number;
    readonly end: number;
    readonly text: string;
  }[];
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** `skill.toml` as an object. */
  readonly manifest?: Readonly<Record<string, unknown>> | undefined;
  /** What it requests, for the part `manifest`. */
  readonly wants: Wants;
  /** What its files use without declaring it, as far as it can be seen: hosts, names of environment variables. */
  readonly detected: { readonly hosts: readonly string[]; readonly environment: readonly string[] };
  readonly inputs: Readonly<Record<string, SkillInput>>;
  /** Scripts that can be run. */
  readonly scripts: readonly string[];
  readonly files: readonly SkillFileEntry[];
  readonly filesOmitted: number;
  readonly problems: readonly ShownProblem[];
  /** What scanners of others say, as the project keeps it: theirs, and no problem of ours. */
  readonly advice: readonly ShownAdvice[];
  readonly permissions: SkillPermissions;
  readonly environment: readonly EnvironmentMatch[];
  readonly license: SkillLicense;
  /** Present if it was installed from elsewhere. */
  readonly installed?: { readonly source: string; readonly isModified: boolean } | undefined;
}

export type SkillInput = Readonly<DeclaredArgument>;

/** An advice, without what only the scanner's own machine has. */
export type ShownAdvice = Omit<SkillAdvice, "file" | "sha256">;

/** A problem with the lines around its place. */
export interface ShownProblem extends Problem {
  readonly frame: readonly { readonly line: number; readonly text: string }[];
}

/** `GET /api/skills/ID/files?path=PATH`. */
export interface FileContent {
  readonly content: string;
  readonly encoding: "utf-8" | "base64";
  readonly sizeBytes: number;
  readonly truncated: boolean;
}

/**
 * `POST /api/skills/ID/decision`. `approve`: these bytes, as a grant; `once`: their next run from this page; `block`: all versions; `revoke`: one
 * grant; `unblock`.
 */
export const decisionRequest = z.strictObject({
  decision: z.enum(["approve", "once", "block", "unblock", "revoke"]),
  /** Absent for a skill that has none: it can be blocked and unblocked only, and its grants revoked. */
  digest: z.string().regex(digestForm).optional(),
  nonce: z.string().max(128),
  /** For `approve`. Default: as wide as the policy lets a person approve. */
  reach: z.enum(["session", "project", "everywhere"]).optional(),
  /** For `revoke`. */
  grant: z.string().max(128).optional(),
});

export type DecisionRequest = Readonly<z.infer<typeof decisionRequest>>;

const position = z.int().min(1).max(10_000_000).optional();

/** `POST /api/skills/ID/open`: opens the file in the person's editor. */
export const openFile = z.strictObject({ path: z.string().max(1_024), line: position, column: position });

export type OpenFile = Readonly<z.infer<typeof openFile>>;

/** The body of every answer that is not a success. The codes are those of JSON-RPC errors, and `STALE`: read it again. */
export interface BrowseError {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string | undefined };
}
