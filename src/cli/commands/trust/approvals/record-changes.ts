import type { Ledger, LedgerEntry } from "../../../../runtime/ledger.ts";
import type { ApprovalScope, ApprovalStore, Approvals } from "../../../../runtime/trust.ts";

/**
 * Approvals whose changes are in the ledger before they are in force: a command that is killed may leave a line too many, and never an
 * approval without one.
 */
export function recordChanges(store: ApprovalStore, ledger: Ledger): ApprovalStore {
  return {
    read: (scope) => store.read(scope),
    scopes: () => store.scopes(),
    readCopy: (digest) => store.readCopy(digest),
    keepCopy: (digest, files) => store.keepCopy(digest, files),
    async change(scope, change) {
      let recorded = "";
      return await store.change(scope, (before) => {
        const after = change(before);
        const entries = after === before ? [] : differences(scope, before, after);
        // It may be called again, if another process was faster.
        const text = JSON.stringify(entries);
        if (text !== recorded)
          for (const entry of entries) ledger.record({ at: Date.now(), tool: "approvals", door: "cli", ...entry });
        recorded = text;
        return after;
      });
    },
  };
}

type Difference = Pick<
  LedgerEntry,
  "event" | "skill" | "version" | "digest" | "grant" | "about" | "answer" | "outcome"
>;

function differences(scope: ApprovalScope, before: Approvals, after: Approvals): readonly Difference[] {
  const [given, taken] = [{ event: "grant", outcome: "allowed" }, { event: "revoke" }] as const;
  const isIn = (grants: Approvals["grants"], id: string): boolean => grants.some((grant) => grant.id === id);
  const isBlocked = ({ blocks }: Approvals, { skill, from }: Approvals["blocks"][number]): boolean =>
    blocks.some((block) => block.skill === skill && block.from === from);
  const project = scope === "everywhere" ? "" : scope.project;
  return [
    ...after.grants.filter(({ id }) => !isIn(before.grants, id)).map((grant) => ({ ...given, ...factsOf(grant) })),
    ...before.grants.filter(({ id }) => !isIn(after.grants, id)).map((grant) => ({ ...taken, ...factsOf(grant) })),
    ...after.blocks
      .filter((block) => !isBlocked(before, block))
      .map(({ skill }) => ({ event: "answer", outcome: "denied" as const, answer: "block", skill })),
    ...before.blocks
      .filter((block) => !isBlocked(after, block))
      .map(({ skill }) => ({ ...taken, skill, about: "block" })),
    ...(after.trusted !== undefined && before.trusted === undefined ? [{ ...given, about: trustWords(project) }] : []),
    ...(after.trusted === undefined && before.trusted !== undefined ? [{ ...taken, about: trustWords(project) }] : []),
  ];
}

function factsOf({ skill, version, digest, id }: Approvals["grants"][number]): Difference {
  return { skill, version, digest, grant: id };
}

function trustWords(project: string): string {
  return `models may read the skills that came with ${project}`;
}
