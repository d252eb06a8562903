import type { Asker, TrustRequest } from "../authorization.ts";
import { reaches } from "./grant.ts";
import type { Reach } from "./grant.ts";
import type { Policy } from "../policy/policy.ts";

export function reachIndex(reach: Policy["approvals"]): number {
  return reach === "none" ? -1 : reaches.indexOf(reach);
}

export function least(one: Reach, other: Policy["approvals"]): Reach {
  return reachIndex(other) < reachIndex(one) ? (other === "none" ? "once" : other) : one;
}

/** How far "trust" reaches: everywhere for a person's own skill that wants no access to the project, else this project. */
export function reachOf(
  { subject, wants }: TrustRequest,
  { directory }: Pick<Asker, "directory">,
  policy: Policy,
): Reach {
  const isAnywhere = subject.isOwn && wants.project === "none";
  const natural = isAnywhere ? "everywhere" : directory === undefined ? "session" : "project";
  return least(natural, policy.approvals);
}

/** Whether grants of a scope count under a policy. */
export function isWithin({ approvals }: Policy, project: string | undefined): boolean {
  return reachIndex(approvals) >= reachIndex(project === undefined ? "everywhere" : "project");
}
