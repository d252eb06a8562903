import * as z from "zod";
import { digestForm } from "../../base/text/content.ts";
import type { SkillFacts } from "../../client/select.ts";
import type { Match } from "../../skills/environment.ts";
import type { SkillLicense } from "../../skills/licenses.ts";
import type { DeclaredArgument } from "../../skills/manifest.ts";
import type { Capabilities } from "../../skills/permissions.ts";
import type { SkillAdvice } from "../../skills/check.ts";
import type { Problem } from "../../skills/rules.ts";

/** The requests of the skill browser to the server of `acp-skills browse`, and the answers. JSON; times are milliseconds since 1970. */

/** The worst state that applies to a skill. `invalid`: the skill is not offered. `changed`: an earlier version was approved. */
export type SkillState =
  "ok" | "warnings" | "needs-approval" | "changed" | "blocked" | "denied" | "shadowed" | "invalid";

/** A skill in the list. `source`: a directory as shown, such as `~/.agents/skills`, or the URL of a source. */
export interface SkillRow extends SkillFacts {
  /** The id in the list: the slug, or the path of the file if the skill is not offered. Stable as long as the file is not moved. */
  readonly id: string;
  /** The agent that announced a skill of a store. `command`: the name that invokes the skill in a prompt. */
  readonly agent?: string | undefined;
  readonly command?: string | undefined;
  readonly kind: "instruction" | "action";
  readonly version: string;
  readonly namespace: string;
  readonly source: string;
  readonly state: SkillState;
  /** Estimates: the tokens of the skill's entry in a list that models read, and of its instructions. */
  readonly tokens: { readonly listed: number; readonly instructions: number };
  readonly errors: number;
  readonly warnings: number;
}

/** `GET /api/skills`: every skill, sorted by name. */
export interface SkillList {
  /** The number of the list's version, which grows with every change. */
  readonly revision: number;
  readonly skills: readonly SkillRow[];
  /** Directories that were not read completely, so that skills may be missing. */
  readonly unread: readonly string[];
}

/** The `skills` event: the changes since the previous revision. */
export interface SkillListChange {
  readonly revision: number;
  /** The complete rows that are new or different. */
  readonly put: readonly SkillRow[];
  /** The ids of the rows that are gone. */
  readonly removed: readonly string[];
}

/**
 * The `reset` event: the list has to be read again if the page has another revision. Sent first on a connection that was not resumed, and
 * when more than 500 rows change at once.
 */
export type Reset = Pick<SkillListChange, "revision">;

/** The `skill` event: the files of a skill have changed since a page read them. */
export type SkillTouched = Pick<SkillRow, "id">;

/** `GET /api/about`. With `?sandbox`, the answer waits until the sandbox was found. */
export interface About {
  readonly version: string;
  /** Whether the page can only read: nothing can be approved, run, installed or opened. */
  readonly readOnly: boolean;
  /** The project's directory, with `~` for the home directory. */
  readonly directory: string;
  /** The sandbox tier for code here, what it `lacks` and the `remedy`; or why code cannot run. Absent without `?sandbox`. */
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

/** The capabilities that a skill wants beyond its sandbox, also in words. */
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
  /** Whether the grant is for the bytes that are installed now. */
  readonly isCurrent: boolean;
}

/** The signature of a skill; `words` say who signed. */
export interface ShownSignature {
  readonly state: "signed" | "unsigned" | "invalid";
  readonly words: string;
}

/** The permissions of a skill: requested, approved, and changed since. */
export interface SkillPermissions {
  readonly wants: Wants;
  readonly grants: readonly SkillGrant[];
  readonly isBlocked: boolean;
  /** Why a policy denies the skill. */
  readonly denied?: { readonly why: string; readonly hint: string } | undefined;
  /** Whether runs need no approval, because the skill wants nothing beyond its sandbox. */
  readonly isFree: boolean;
  /** The default reach of an approval. */
  readonly reach?: "once" | "session" | "project" | "everywhere" | undefined;
  /** The reach of a block. */
  readonly blockReach?: "project" | "everywhere" | undefined;
  /** Absent if not all files can be read. */
  readonly signature?: ShownSignature | undefined;
  /** The commands that agents which load the skill themselves run on this machine, outside the sandbox. */
  readonly hostCommands: readonly string[];
  /** The wants beyond those of the version that was approved before, in words. */
  readonly widened: readonly string[];
  /** Files that differ from the version approved before. `diff`: unified; absent for a binary or too large file. */
  readonly changedFiles: readonly { readonly path: string; readonly diff?: string | undefined }[];
}

/** A section of a skill's detail that `?part` can request, besides the fields of every answer. */
export type DetailSection = "overview" | "manifest" | "problems" | "permissions" | "environment" | "license" | "run";

/**
 * `GET /api/skills/ID?part=PART&…`: the named sections about one skill; all of them without `?part`. Answers with one digest are about the
 * same bytes.
 */
export interface SkillDetail {
  readonly row: SkillRow;
  /** `sha256:…` of all files; absent if not all can be read. Approvals and runs are for exactly these bytes. */
  readonly digest?: string | undefined;
  /** Must be sent with a decision about, or a run of, this digest. Only with the section `permissions` or `run`, and not if read-only. */
  readonly nonce?: string | undefined;
  /** The body of SKILL.md, at most 1 MiB of it. */
  readonly instructions: { readonly markdown: string; readonly isWhole: boolean };
  /** Text that the user does not see in the rendered Markdown. Offsets count UTF-16 units of `markdown`. */
  readonly hidden: readonly {
    readonly kind: "zero-width" | "bidi" | "control" | "comment" | "tag-characters";
    readonly start: number;
    readonly end: number;
    readonly text: string;
  }[];
  readonly frontmatter: Readonly<Record<string, unknown>>;
  /** `skill.toml` as an object. */
  readonly manifest?: Readonly<Record<string, unknown>> | undefined;
  /** The capabilities that the skill requests. Only in the section `manifest`. */
  readonly wants: Wants;
  /** Hosts and names of environment variables that the skill's code mentions, declared or not. */
  readonly detected: { readonly hosts: readonly string[]; readonly environment: readonly string[] };
  readonly inputs: Readonly<Record<string, SkillInput>>;
  /** Scripts that can be run. */
  readonly scripts: readonly string[];
  readonly files: readonly SkillFileEntry[];
  readonly filesOmitted: number;
  readonly problems: readonly ShownProblem[];
  /** The findings of other scanners that the project stores. They do not count as problems of the skill. */
  readonly advice: readonly ShownAdvice[];
  readonly permissions: SkillPermissions;
  readonly environment: readonly EnvironmentMatch[];
  readonly license: SkillLicense;
  /** Present if a lock says that the skill was installed from a source. */
  readonly installed?: { readonly source: string; readonly isModified: boolean } | undefined;
}

export type SkillInput = Readonly<DeclaredArgument>;

/** A finding of a scanner, without the fields that make sense only on the scanner's machine. */
export type ShownAdvice = Omit<SkillAdvice, "file" | "sha256">;

/** A problem with the lines around its position. */
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
 * `POST /api/skills/ID/decision`. `approve` grants these bytes, `once` their next run from the page. `block` and `unblock` are for all
 * versions. `revoke` is for one grant.
 */
export const decisionRequest = z.strictObject({
  decision: z.enum(["approve", "once", "block", "unblock", "revoke"]),
  /** Absent for a skill without one, which can only be blocked and unblocked, and its grants revoked. */
  digest: z.string().regex(digestForm).optional(),
  nonce: z.string().max(128),
  /** For `approve`. Default: the widest reach that the policy lets the user approve. */
  reach: z.enum(["session", "project", "everywhere"]).optional(),
  /** For `revoke`. */
  grant: z.string().max(128).optional(),
});

export type DecisionRequest = Readonly<z.infer<typeof decisionRequest>>;

const position = z.int().min(1).max(10_000_000).optional();

/** `POST /api/skills/ID/open`: opens the file in the user's editor. */
export const openFile = z.strictObject({ path: z.string().max(1_024), line: position, column: position });

export type OpenFile = Readonly<z.infer<typeof openFile>>;

/** The body of every error. The codes are those of JSON-RPC errors, and `STALE`: the page must read the skill or plan again. */
export interface BrowseError {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string | undefined };
}
