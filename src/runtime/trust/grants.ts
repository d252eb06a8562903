import type { Skill } from "../../skills/skill.ts";
import { type Capabilities, covers } from "../../skills/permissions.ts";
import type { Block, Grant, GrantOrigin } from "./approvals/scope-approvals.ts";
import type { TrustCaller } from "../trust.ts";
import type { Policy } from "./policy.ts";

export type { Block, Grant, GrantOrigin } from "./approvals/scope-approvals.ts";

/** How far an approval reaches, from narrow to wide: this call, this session, this project, everywhere. */
const reaches = ["once", "session", "project", "everywhere"] as const;

export type Reach = (typeof reaches)[number];

/** The source on the network from which a skill was fetched. */
export interface PublishedOrigin {
  /** A URL without secrets. */
  readonly source: string;
  /** The https URL that rules about sources judge, if `source` is no https URL. */
  readonly url?: string | undefined;
  /** The commit of the source's repository in which the skill has the bytes of `digest`. */
  readonly commit?: { readonly id: string; readonly digest: string } | undefined;
}

/** Exactly one version of one skill. */
export interface JudgedSkill extends Pick<Skill, "name" | "slug" | "version" | "directory"> {
  /** `sha256:…` of all its files, as describe_skill shows it. */
  readonly digest: string;
  /** Whether the skill is in one of the user's own roots; otherwise it came with a project, or from its `origin`. */
  readonly isOwn: boolean;
  /** The directory of skills under which it was found. */
  readonly source: string;
  /** The source of a fetched skill; absent for all others. */
  readonly origin?: PublishedOrigin | undefined;
  /**
   * Returns an SPDX expression, `unknown` or `unspecified`; absent: `unspecified`. Lists the skill's license files, so it is called only if
   * a policy has rules about licenses.
   */
  readonly license?: (() => string) | undefined;
  /** Returns the commands that an agent runs here when it loads the skill itself. Reads the skill: called only for questions. */
  readonly hostCommands?: (() => readonly string[]) | undefined;
}

/** A skill version whose files were not hashed. */
export type UnhashedSkill = Omit<JudgedSkill, "digest">;

/** The origin of a skill, as grants and blocks distinguish it. */
export type JudgedOrigin = Pick<JudgedSkill, "isOwn" | "origin">;

/** The access that a skill wants, and the skill that calls it. */
export interface AccessRequest {
  readonly skill: Pick<JudgedSkill, "name" | "digest">;
  readonly wants: Capabilities;
  readonly calledBy?: { readonly name: string; readonly digest: string } | undefined;
}

/** Whether a grant allows all that is wanted at `now`, in milliseconds since 1970. */
export function allows(grant: Grant, { skill, wants, calledBy }: AccessRequest, now: number): boolean {
  return (
    grant.skill === skill.name &&
    grant.digest === skill.digest &&
    grant.calledBy?.skill === calledBy?.name &&
    grant.calledBy?.digest === calledBy?.digest &&
    (grant.expires === undefined || now < Date.parse(grant.expires)) &&
    covers(grant.capabilities, wants)
  );
}

export function blocks({ skill, from }: Block, judged: Pick<JudgedSkill, "name" | "isOwn" | "origin">): boolean {
  return skill === judged.name && from === kindOf(judged);
}

/** Whether a grant was given to a skill of the same origin. */
export function isOfOrigin({ from = "own", source }: GrantOrigin, skill: JudgedOrigin): boolean {
  return from === kindOf(skill) && (from !== "remote" || source === skill.origin?.source);
}

/** The kind of a skill's origin, as blocks and grants name it. */
export function kindOf({ isOwn, origin }: JudgedOrigin): Block["from"] {
  return isOwn ? "own" : origin === undefined ? "project" : "remote";
}

export function reachIndex(reach: Policy["approvals"]): number {
  return reach === "none" ? -1 : reaches.indexOf(reach);
}

export function least(one: Reach, other: Policy["approvals"]): Reach {
  return reachIndex(other) < reachIndex(one) ? (other === "none" ? "once" : other) : one;
}

/**
 * How far "trust" reaches: this project for its own skills and for skills that want access to it, else everywhere. A grant can count
 * everywhere because it is for exact bytes.
 */
export function reachOf(
  { skill, wants }: { readonly skill: JudgedOrigin; readonly wants: Capabilities },
  { directory }: Pick<TrustCaller, "directory">,
  policy: Policy,
): Reach {
  const isAnywhere = kindOf(skill) !== "project" && wants.project === "none";
  const natural = isAnywhere ? "everywhere" : directory === undefined ? "session" : "project";
  return least(natural, policy.approvals);
}

/** Whether grants of a scope count under a policy. */
export function isScopeWithinReach({ approvals }: Policy, project: string | undefined): boolean {
  return reachIndex(approvals) >= reachIndex(project === undefined ? "everywhere" : "project");
}
