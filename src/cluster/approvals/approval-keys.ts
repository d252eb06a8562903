import { createHash } from "node:crypto";
import type { ApprovalScope } from "../../runtime/trust.ts";

/** Returns the same text for equal scopes. */
export function toScopeText(scope: ApprovalScope): string {
  return JSON.stringify(oneForm(scope));
}

export function scopeKey(scope: ApprovalScope): Buffer {
  return toKey(toScopeText(scope));
}

/** Returns the key of a blocked skill in `acp_skills.blocks`. Code that acts on approvals checks the keys of all scopes that count. */
export function blockKey(scope: ApprovalScope, skill: string, from: "own" | "project" | "remote"): Buffer {
  return toKey(JSON.stringify([oneForm(scope), skill, from]));
}

function oneForm(scope: ApprovalScope): ApprovalScope {
  return scope === "everywhere" ? scope : { project: scope.project };
}

/** Returns the SHA-256 of a text. Keys are compared instead of names, because text in a database cannot hold every name. */
function toKey(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
