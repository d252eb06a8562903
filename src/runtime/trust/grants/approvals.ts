import * as z from "zod";
import { SkillsError } from "../../../base/errors.ts";
import { blockSchema, grantSchema } from "./grant-schema.ts";
import type { CopiedFile } from "../../../skills/copied-files.ts";

/** A person's answers of one scope, as they are stored. */
const approvalsSchema = z.strictObject({
  format: z.literal("acp-skills approvals 1"),
  /** The project that they are for, see `projectOf`. Absent: everywhere. */
  project: z.string().min(1).exactOptional(),
  /** The repository at that path, see `repositoryAt`. In another one, only the blocks count. */
  repository: z.string().min(1).exactOptional(),
  grants: z.array(grantSchema).readonly().default([]),
  blocks: z.array(blockSchema).readonly().default([]),
  /** Models may read the instructions of the skills that came with this project. */
  trusted: z.strictObject({ who: z.string(), when: z.iso.datetime(), via: z.string() }).exactOptional(),
});

export type Approvals = z.infer<typeof approvalsSchema>;

/** Which file: that of a project, or of everywhere. */
export type ApprovalScope = { readonly project: string } | "everywhere";

export const maxGrants = 2_000;
export const maxBlocks = 1_000;

/** What a scope holds before the first answer. */
export function nothingApproved(scope: ApprovalScope): Approvals {
  return parseApprovals({ format: "acp-skills approvals 1", ...(scope !== "everywhere" && scope) });
}

/** Checks and freezes approvals. Throws ZodError. */
export function parseApprovals(value: unknown): Approvals {
  return freeze(approvalsSchema.parse(value));
}

/** The approvals of a scope after a change. Throws QUOTA_EXCEEDED where they become too many. */
export function changeApprovals(
  scope: ApprovalScope,
  before: Approvals,
  change: (before: Approvals) => Approvals,
): Approvals {
  const changed = change(before);
  if (changed === before) return before;
  for (const [kind, { length }, limit] of [
    ["approvals", changed.grants, maxGrants],
    ["blocked skills", changed.blocks, maxBlocks],
  ] as const) {
    if (length <= limit) continue;
    const place = scope === "everywhere" ? "for everywhere" : `for the project ${scope.project}`;
    const message = `The ${kind} ${place} would be ${length.toLocaleString("en")}; the limit is ${limit.toLocaleString("en")}.`;
    const hint = "Remove old ones: acp-skills approvals list shows them, acp-skills approvals revoke ID removes one.";
    throw new SkillsError("QUOTA_EXCEEDED", message, { facts: { limit, hint } });
  }
  const { format, repository, trusted, grants, blocks } = changed;
  const project =
    scope === "everywhere" ? undefined : { project: scope.project, ...(repository !== undefined && { repository }) };
  return parseApprovals({ format, ...project, ...(trusted !== undefined && { trusted }), grants, blocks });
}

/** Because readers share what was read. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}

/** The port to a person's answers. Shared by all processes of this user. */
export interface ApprovalStore {
  /** Nothing granted where nothing is stored, or where the file is damaged or not the user's own; that is reported once. Never throws. */
  read(scope: ApprovalScope): Promise<Approvals>;
  /**
   * Changes what is stored, and no other process does so meanwhile. Durable when it resolves. `change` may be called again, if another
   * process was faster. Throws UNREADABLE if it cannot be written, QUOTA_EXCEEDED if it becomes too much, and what `change` throws.
   */
  change(scope: ApprovalScope, change: (before: Approvals) => Approvals): Promise<Approvals>;
  /** Every scope with a file: everywhere first, then projects in order. */
  scopes(): Promise<readonly ApprovalScope[]>;
  /** The files of an approved version; undefined if they are not stored. */
  readCopy(digest: string): Promise<readonly CopiedFile[] | undefined>;
  /** Stores them for `readCopy`, after the grant: kept as long as a grant of any scope names the digest. Never throws. */
  keepCopy(digest: string, files: readonly CopiedFile[]): Promise<void>;
}
