import type { Skill } from "../../skills/skill.ts";
import { type Capabilities, covers } from "../../skills/permissions.ts";
import type { Block, Grant } from "./approvals/scope-approvals.ts";
import type { Asker } from "../trust.ts";
import type { Policy } from "./policy.ts";

export type { Block, Grant } from "./approvals/scope-approvals.ts";

/** How far an approval reaches, from narrow to wide: this call, this session, this project, everywhere. */
const reaches = ["once", "session", "project", "everywhere"] as const;

export type Reach = (typeof reaches)[number];

/** Where a skill was published. */
export interface PublishedOrigin {
  /** A URL without secrets. */
  readonly source: string;
  /** The https URL that rules about sources judge, where `source` is none. */
  readonly place?: string | undefined;
  /** The commit of the source, if that is a repository, in which the skill has the bytes of `digest`. */
  readonly commit?: { readonly id: string; readonly digest: string } | undefined;
}

/** Exactly one version of one skill. */
export interface Subject extends Pick<Skill, "name" | "slug" | "version" | "directory"> {
  /** `sha256:…` of all its files, as describe_skill gives it. */
  readonly digest: string;
  /** It is in one of the person's own roots; otherwise it came with a project, or from its `origin`. */
  readonly isOwn: boolean;
  /** The directory of skills under which it was found. */
  readonly source: string;
  /** Where it was published; absent for skills that were not fetched. */
  readonly origin?: PublishedOrigin | undefined;
  /**
   * SPDX expression, `unknown` or `unspecified`; a function, because it lists the skill's license files: called only where a policy has
   * rules about licenses. Without it: `unspecified`.
   */
  readonly license?: (() => string) | undefined;
  /** What agents that load the skill themselves run on this machine; a function, because it reads the skill: called where a person is asked. */
  readonly hostCommands?: (() => readonly string[]) | undefined;
}

/** What may be done, by whom. */
export interface AccessRequest {
  readonly subject: Pick<Subject, "name" | "digest">;
  readonly wants: Capabilities;
  readonly calledBy?: { readonly name: string; readonly digest: string } | undefined;
}

/** Whether a grant allows all that is wanted, now. `now`: milliseconds since 1970. */
export function allows(grant: Grant, { subject, wants, calledBy }: AccessRequest, now: number): boolean {
  return (
    grant.skill === subject.name &&
    grant.digest === subject.digest &&
    grant.calledBy?.skill === calledBy?.name &&
    grant.calledBy?.digest === calledBy?.digest &&
    (grant.expires === undefined || now < Date.parse(grant.expires)) &&
    covers(grant.capabilities, wants)
  );
}

export function blocks({ skill, from }: Block, subject: Pick<Subject, "name" | "isOwn" | "origin">): boolean {
  return skill === subject.name && from === kindOf(subject);
}

/** Whether a grant was given to a skill that came from the same place. */
export function isOfOrigin(
  { from = "own", source }: Pick<Grant, "from" | "source">,
  subject: Pick<Subject, "isOwn" | "origin">,
): boolean {
  return from === kindOf(subject) && (from !== "remote" || source === subject.origin?.source);
}

/** Where a skill is from, as a block and a grant name it. */
export function kindOf({ isOwn, origin }: Pick<Subject, "isOwn" | "origin">): Block["from"] {
  return isOwn ? "own" : origin === undefined ? "project" : "remote";
}

export function reachIndex(reach: Policy["approvals"]): number {
  return reach === "none" ? -1 : reaches.indexOf(reach);
}

export function least(one: Reach, other: Policy["approvals"]): Reach {
  return reachIndex(other) < reachIndex(one) ? (other === "none" ? "once" : other) : one;
}

/**
 * How far "trust" reaches: this project for skills of it and those that want access to it, else everywhere, because a grant is for exact
 * bytes.
 */
export function reachOf(
  { subject, wants }: { readonly subject: Pick<Subject, "isOwn" | "origin">; readonly wants: Capabilities },
  { directory }: Pick<Asker, "directory">,
  policy: Policy,
): Reach {
  const isAnywhere = kindOf(subject) !== "project" && wants.project === "none";
  const natural = isAnywhere ? "everywhere" : directory === undefined ? "session" : "project";
  return least(natural, policy.approvals);
}

/** Whether grants of a scope count under a policy. */
export function isScopeWithinReach({ approvals }: Policy, project: string | undefined): boolean {
  return reachIndex(approvals) >= reachIndex(project === undefined ? "everywhere" : "project");
}
