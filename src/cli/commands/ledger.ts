import path from "node:path";
import { diskLedger } from "../../ledger/disk-ledger.ts";
import type { LedgerEntry } from "../../ledger/ledger.ts";
import { json, notes } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { collect, dataDirectory } from "../data-directory.ts";
import { openProcessLog } from "../open-log.ts";
import { table } from "../report/columns.ts";
import { safeText } from "../report/safe-text.ts";

export const command = defineCommand({
  usage: "ledger [options]",
  options: { json },
  notes: [notes.data],
  async run({ options }, terminal) {
    const opened = diskLedger(path.join(dataDirectory(terminal), "ledger"), { log: openProcessLog() });
    const uses = (await collect(opened.read())).sort((a, b) => a.at - b.at);
    opened.close();
    const heading = ["WHEN", "TOOL", "SKILL", "VERSION", "OUTCOME", "RUN", "DOOR", "SESSION"];
    if (options.json === true) await terminal.printJson({ uses: uses.map(toShown) });
    else if (uses.length === 0) terminal.tell("the ledger is empty");
    else await terminal.print(table(heading, uses.map(toRow), terminal));
    return 0;
  },
});

/** Keys in a fixed order, named as on disk. */
function toShown({ at, tool, skill, version, outcome, code, runId, sessionId, door }: LedgerEntry): object {
  return {
    at: new Date(at).toISOString(),
    tool,
    skill: skill ?? null,
    version: version ?? null,
    outcome: outcome ?? null,
    code: code ?? null,
    run_id: runId ?? null,
    session_id: sessionId ?? null,
    door,
  };
}

function toRow({ at, tool, skill, version, outcome, code, runId, door, sessionId }: LedgerEntry): readonly string[] {
  const when = `${new Date(at).toISOString().slice(0, 19)}Z`;
  const ending = [outcome, code].filter((word) => word !== undefined).join(" ");
  return [when, ...[tool, skill, version, ending, runId, door, sessionId].map((text = "") => safeText(text))];
}
