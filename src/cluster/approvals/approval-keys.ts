import { createHash } from "node:crypto";
import type { ApprovalScope } from "../../runtime/trust.ts";

/** One text for one scope. */
export function toScopeText(scope: ApprovalScope): string {
  return JSON.stringify(oneForm(scope));
}

export function scopeKey(scope: ApprovalScope): Buffer {
  return toKey(toScopeText(scope));
}

/** What `acp_skills.blocks` has for a blocked skill. Who acts on approvals asks for it in every scope that counts. */
export function blockKey(scope: ApprovalScope, skill: string, from: "own" | "project" | "remote"): Buffer {
  return toKey(JSON.stringify([oneForm(scope), skill, from]));
}

function oneForm(scope: ApprovalScope): ApprovalScope {
  return scope === "everywhere" ? scope : { project: scope.project };
}

/** SHA-256: names of others are compared by it, because text in a database cannot hold all of them. */
function toKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
