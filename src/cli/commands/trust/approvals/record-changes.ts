import type { Ledger, LedgerEntry } from "../../../../runtime/ledger.ts";
import { inShort, noCapabilities } from "../../../../skills/permissions.ts";
import type { ApprovalScope, ApprovalStore, Approvals } from "../../../../runtime/trust.ts";

/**
 * Wraps a store so that changes are in the ledger before they are in force. A killed command may leave a line too many, but never an
 * approval without a line.
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
        // The store may call this again, if another process was faster.
        const text = JSON.stringify(entries);
        if (text !== recorded)
          for (const entry of entries) ledger.record({ at: Date.now(), tool: "approvals", door: "cli", ...entry });
        recorded = text;
        return after;
      });
    },
  };
}

type Difference = Partial<LedgerEntry>;

function differences(scope: ApprovalScope, before: Approvals, after: Approvals): readonly Difference[] {
  const project = scope === "everywhere" ? undefined : scope.project;
  const ofProject = project === undefined ? {} : { project };
  const [given, taken] = [{ outcome: "allowed", ...ofProject } as const, { event: "revoke", ...ofProject } as const];
  const isIn = (grants: Approvals["grants"], id: string): boolean => grants.some((grant) => grant.id === id);
  const isBlocked = ({ blocks }: Approvals, { skill, from }: Approvals["blocks"][number]): boolean =>
    blocks.some((block) => block.skill === skill && block.from === from);
  const trusted = `models may read the skills that came with ${project ?? ""}`;
  return [
    ...after.grants
      .filter(({ id }) => !isIn(before.grants, id))
      .map((grant) => ({ ...given, ...eventOf("grant", grant), ...factsOf(grant) })),
    ...before.grants
      .filter(({ id }) => !isIn(after.grants, id))
      .map((grant) => ({ ...taken, ...factsOf(grant, signatureOf(grant)) })),
    ...after.blocks
      .filter((block) => !isBlocked(before, block))
      .map((block) => ({ ...ofProject, ...eventOf("block", block), outcome: "denied" as const, skill: block.skill })),
    ...before.blocks
      .filter((block) => !isBlocked(after, block))
      .map((block) => ({ ...taken, skill: block.skill, about: `the block, ${signatureOf(block)}` })),
    ...(after.trusted !== undefined && before.trusted === undefined
      ? [{ ...given, ...eventOf("grant", after.trusted, trusted) }]
      : []),
    ...(after.trusted === undefined && before.trusted !== undefined
      ? [{ ...taken, about: `${trusted}, ${signatureOf(before.trusted)}` }]
      : []),
  ];
}

/** The user who decided, with the time and the way. */
type Signature = Pick<Approvals["blocks"][number], "who" | "when" | "via">;

function signatureOf({ who, when, via }: Signature): string {
  return `given by ${who}, ${when}, ${via}`;
}

/** The event of a change. A decision from another machine is an `import`, and says who decided, when and how. */
function eventOf(event: string, signature: Signature, about?: string): Difference {
  const isImported = signature.via === imported;
  const words = [about, isImported ? signatureOf(signature) : undefined].filter((word) => word !== undefined);
  return { event: isImported ? "import" : event, ...(words.length > 0 && { about: words.join(", ") }) };
}

/** The `via` of decisions from another machine. */
export const imported = "import";

function factsOf(grant: Approvals["grants"][number], ...more: readonly string[]): Difference {
  const { skill, version, digest, id, calledBy, expires, via } = grant;
  const signed = via === imported && more.length === 0 ? [signatureOf(grant)] : more;
  const about = [
    inShort({ ...noCapabilities, ...grant.capabilities }),
    ...(calledBy === undefined ? [] : [`when ${calledBy.skill} calls it`]),
    ...(expires === undefined ? [] : [`until ${expires}`]),
    ...signed,
  ].filter((words) => words !== "");
  return { skill, version, digest, grant: id, about: about.join(", ") };
}
