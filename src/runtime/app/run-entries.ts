import { inShort } from "../../skills/permissions.ts";
import { type Ledger, type LedgerEntry, whoAndWhere } from "../ledger.ts";
import type { RunsOptions, StartedRun } from "../runs.ts";

/** Records in the ledger what runs do beyond their sandboxes, but never the path, headers or body of a request. */
export function recordInLedger(
  ledger: Pick<Ledger, "record" | "flush">,
  now: () => number,
): Pick<RunsOptions, "recordStart" | "recordSent"> {
  const entryOf = (event: string, { spec, caller }: Pick<StartedRun, "spec" | "caller">): LedgerEntry => {
    const { skill, runId, session, subagent, door } = spec;
    return {
      at: now(),
      event,
      tool: "execute_skill",
      ...(skill && { skill: skill.name, version: skill.version, digest: skill.digest }),
      ...whoAndWhere(caller),
      runId,
      ...(session !== undefined && { sessionId: session }),
      ...(subagent !== undefined && { subagent }),
      door,
    };
  };
  return {
    async recordStart({ isolation, by, ...run }) {
      const about = inShort(run.spec.needs);
      const fault = ledger.record({ ...entryOf("start", run), isolation, outcome: "started", about, grant: by });
      return fault ?? (await ledger.flush?.());
    },
    recordSent(run, { secret, host, method, status }) {
      const outcome = status !== undefined && status < 400 ? "completed" : "failed";
      const about = `${secret} to ${host}: ${method}, ${status === undefined ? "no answer" : `status ${status}`}`;
      ledger.record({ ...entryOf("send", run), outcome, about });
    },
  };
}
