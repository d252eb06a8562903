import path from "node:path";
import { diskLedger } from "../../ledger/disk-ledger.ts";
import type { LedgerEntry } from "../../ledger/ledger.ts";
import { readOptions } from "../../options.ts";
import { collect } from "../arguments/collect.ts";
import { json, notes } from "../arguments/shared-options.ts";
import { defineCommand } from "../command.ts";
import { jsonText } from "../report/json-text.ts";
import { openProcessLog } from "../open-log.ts";
import { safeText } from "../report/safe-text.ts";
import { table } from "../report/table.ts";

export const ledger = defineCommand({
  usage: "ledger [options]",
  options: { json },
  notes: [notes.data],
  async run({ options }, terminal) {
    const directory = path.join(readOptions({}, { home: terminal.home }).dataDirectory, "ledger");
    const opened = diskLedger(directory, { log: openProcessLog() });
    const uses = (await collect(opened.read())).sort((a, b) => a.at - b.at);
    opened.close();
    if (options.json === true) await terminal.print([jsonText({ uses: uses.map(toShown) }, 2), "\n"]);
    else if (uses.length === 0) terminal.tell("the ledger is empty");
    else {
      const heading = ["WHEN", "TOOL", "SKILL", "VERSION", "OUTCOME", "RUN", "DOOR", "SESSION"];
      await terminal.print(table(heading, uses.map(toRow), terminal.columns, terminal.paint));
    }
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
