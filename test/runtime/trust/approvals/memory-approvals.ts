import type { ApprovalScope, ApprovalStore } from "../../../../src/runtime/trust/approvals.ts";
import { type CopiedFile, toCopy, toHex } from "../../../../src/skills/files.ts";
import {
  type Approvals,
  changeApprovals,
  nothingApproved,
} from "../../../../src/runtime/trust/approvals/scope-approvals.ts";

/** A person's answers in memory. */
export function memoryApprovals(): ApprovalStore {
  const stored = new Map<string, Approvals>();
  const copies = new Map<string, readonly CopiedFile[]>();
  const keyOf = (scope: ApprovalScope): string => (scope === "everywhere" ? "" : scope.project);
  const read = (scope: ApprovalScope): Approvals => stored.get(keyOf(scope)) ?? nothingApproved(scope);

  return {
    read: (scope) => Promise.resolve(read(scope)),
    change: (scope, change) =>
      Promise.resolve().then(() => {
        const before = read(scope);
        const after = changeApprovals(scope, before, change);
        if (after === before) return before;
        stored.set(keyOf(scope), after);
        const named = new Set([...stored.values()].flatMap(({ grants }) => grants.map(({ digest }) => digest)));
        for (const digest of copies.keys()) if (!named.has(digest)) copies.delete(digest);
        return after;
      }),
    scopes: () =>
      Promise.resolve([...stored.keys()].sort().map((project) => (project === "" ? "everywhere" : { project }))),
    readCopy: (digest) => Promise.resolve(copies.get(digest)),
    keepCopy(digest, files) {
      const copy = toHex(digest) === undefined ? undefined : toCopy(files);
      if (copy !== undefined) copies.set(digest, copy);
      return Promise.resolve();
    },
  };
}
