import type { Asker, TrustRequest } from "../authorization.ts";
import { kindOf, reaches } from "./grant.ts";
import type { Reach } from "./grant.ts";
import type { Policy } from "../policy.ts";

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
  { subject, wants }: TrustRequest,
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
