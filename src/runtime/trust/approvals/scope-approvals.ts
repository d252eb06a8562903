import * as z from "zod";
import { SkillsError } from "../../../base/errors.ts";
import { onlyCapabilities } from "../../../skills/permissions.ts";
import type { ApprovalScope } from "../approvals.ts";
import { digestForm } from "../../../base/text/content.ts";

const text = z.string().min(1);
const digest = z.string().regex(digestForm);
const time = z.iso.datetime();

const origins = z.enum(["own", "project", "remote"]);
const caller = z.strictObject({ skill: text, digest });

const texts = z.array(z.string()).readonly();

const capabilitiesSchema = z
  .strictObject({
    network: texts.default([]),
    secrets: texts.default([]),
    uses: texts.exactOptional(),
    project: z.enum(["none", "read", "write"]).default("none"),
    isolation: z.literal("none").exactOptional(),
    /** Found in older files; has no effect. */
    tools: texts.exactOptional(),
  })
  .transform(onlyCapabilities);

/** A grant, which allows exact bytes to use exact capabilities. */
const grantSchema = z.strictObject({
  /** `grant_` and 16 hexadecimal digits. */
  id: z.string().regex(/^grant_[0-9a-f]{16}$/),
  /** Canonical name. */
  skill: text,
  version: text,
  digest,
  capabilities: capabilitiesSchema,
  /** The skill whose code calls it. Absent: the user or a model calls. */
  calledBy: caller.exactOptional(),
  /** The kind of the skill's origin, as in blocks; `source` is its source on the network. Absent in older grants: the user's own. */
  from: origins.exactOptional(),
  source: text.exactOptional(),
  /** The user's name on this machine. */
  who: text,
  when: time,
  /** The transport by which it was given, or `import`. */
  via: text,
  expires: time.exactOptional(),
});

export type Grant = z.infer<typeof grantSchema>;

/** The origin of the skill that a grant is for. */
export type GrantOrigin = Pick<Grant, "from" | "source">;

/** A skill that the user blocked, in all versions. `from`: the user's own, of a project, or of a source on the network. */
const blockSchema = z.strictObject({
  skill: text,
  from: origins,
  who: text,
  when: time,
  via: text,
});

export type Block = z.infer<typeof blockSchema>;

/** The user's answers for one scope, as stored. */
const approvalsSchema = z.strictObject({
  format: z.literal("acp-skills approvals 1"),
  /** The path of the project of these answers, see `projectOf`. Absent: everywhere. */
  project: z.string().min(1).exactOptional(),
  /** The repository at that path, see `repositoryAt`. For another repository, only the blocks count. */
  repository: z.string().min(1).exactOptional(),
  grants: z.array(grantSchema).readonly().default([]),
  blocks: z.array(blockSchema).readonly().default([]),
  /** Present if models may read the instructions of the skills that came with this project. */
  trusted: z.strictObject({ who: z.string(), when: z.iso.datetime(), via: z.string() }).exactOptional(),
});

/** The user's approvals and blocks of one scope, as stored. */
export type Approvals = z.infer<typeof approvalsSchema>;

export const maxGrants = 2_000;

export const maxBlocks = 1_000;

/** The approvals of a scope before the first answer. */
export function nothingApproved(scope: ApprovalScope): Approvals {
  return parseApprovals({ format: "acp-skills approvals 1", ...(scope !== "everywhere" && scope) });
}

/** Checks and freezes approvals. Throws ZodError. */
export function parseApprovals(value: unknown): Approvals {
  return freeze(approvalsSchema.parse(value));
}

export const howToRemove =
  "Remove old ones: acp-skills approvals list shows them, acp-skills approvals revoke ID removes one.";

/** The approvals of a scope after a change. Throws QUOTA_EXCEEDED if they become too many. */
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
    const reach = scope === "everywhere" ? "for everywhere" : `for the project ${scope.project}`;
    const message = `The ${kind} ${reach} would be ${length.toLocaleString("en")}; the limit is ${limit.toLocaleString("en")}.`;
    throw new SkillsError("QUOTA_EXCEEDED", message, { facts: { hint: howToRemove } });
  }
  const { format, repository, trusted, grants, blocks } = changed;
  const project =
    scope === "everywhere" ? undefined : { project: scope.project, ...(repository !== undefined && { repository }) };
  return parseApprovals({ format, ...project, ...(trusted !== undefined && { trusted }), grants, blocks });
}

/** Freezes a value and all values inside it, because readers share it. */
function freeze<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const inner of Object.values(value)) freeze(inner);
  return Object.freeze(value);
}
