import * as z from "zod";
import { SkillsError } from "../../../base/errors.ts";
import { blockSchema, grantSchema } from "../grants/grant-schema.ts";
import type { ApprovalScope } from "../approvals.ts";

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
