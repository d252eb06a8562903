import path from "node:path";
import { userName } from "../../base/processes/live-process.ts";
import { type Ledger, type LedgerEntry, whoAndWhere } from "../ledger.ts";
import type { Settings } from "../options.ts";
import type { ApprovalStore } from "../trust/approvals.ts";
import { ConfiguredGrants } from "../trust/configured-grants.ts";
import { projectOf, repositoryAt } from "../trust/project-of.ts";
import { type TrustEvent, type TrustOptions, diskApprovals } from "../trust.ts";
import { Trust } from "../trust/personal-trust.ts";

/** Creates the trust of the user who runs this process; approvals are on disk unless a port replaces them. */
export function createLocalTrust(
  { grants, dataDirectory, home, log, clock }: Settings,
  options: Pick<TrustOptions, "policyFor" | "now"> & {
    readonly approvals: ApprovalStore | undefined;
    readonly ledger: Ledger;
  },
): { readonly trust: Trust; readonly configured: ConfiguredGrants } {
  const { approvals, ledger, policyFor, now } = options;
  const configured = new ConfiguredGrants(grants);
  const trust = new Trust({
    store: approvals ?? diskApprovals(path.join(dataDirectory, "trust"), { log, now }),
    policyFor,
    projectOf: (directory, worktrees, without) => projectOf(directory, worktrees, home, without),
    repositoryAt,
    configured,
    who: userName(),
    clock,
    now,
    record: (event) => ledger.record(toLedgerEntry(event, now())),
    log,
  });
  return { trust, configured };
}

/** The tools that most often lead to each kind of question. */
const toolsOf = { run: "execute_skill", read: "read_skill_file" } as const;

function toLedgerEntry({ type, caller, about, skill, allowed, answer, detail }: TrustEvent, at: number): LedgerEntry {
  const { name, version, digest } = skill;
  const outcome = type === "asked" ? "asked" : allowed === true ? "allowed" : "denied";
  return {
    at,
    event: ({ asked: "ask", answered: "answer", refused: "refusal" } as const)[type],
    tool: toolsOf[about],
    ...whoAndWhere({ callerName: caller.callerName, project: caller.directory }),
    skill: name,
    version,
    ...(digest !== undefined && { digest }),
    outcome,
    ...(answer !== undefined && { answer }),
    ...(detail !== undefined && (outcome === "allowed" ? { grant: detail } : { about: detail })),
    ...(caller.sessionId !== undefined && { sessionId: caller.sessionId }),
    ...(caller.subagent !== undefined && { subagent: caller.subagent }),
    door: caller.transport,
  };
}
