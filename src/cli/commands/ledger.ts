import path from "node:path";
import { isSkillsError } from "../../errors.ts";
import { diskLedger } from "../../ledger/disk-ledger.ts";
import type { LedgerEntry } from "../../ledger/ledger.ts";
import { readOptions } from "../../options.ts";
import { collect } from "../arguments/collect.ts";
import { jsonText } from "../report/json-text.ts";
import { openProcessLog } from "../open-log.ts";
import { safeText } from "../report/safe-text.ts";
import { table } from "../report/table.ts";
import type { Terminal } from "../report/terminal.ts";

/** `acp-skills ledger`: what was used, oldest first; 1 where the ledger cannot be read. */
export async function runLedger({ json }: { readonly json?: boolean }, terminal: Terminal): Promise<number> {
  const log = openProcessLog();
  try {
    const ledger = diskLedger(path.join(readOptions({ home: terminal.home }).dataDirectory, "ledger"), { log });
    const uses = (await collect(ledger.read())).sort((a, b) => a.at - b.at);
    ledger.close();
    if (json === true) await terminal.print([jsonText({ uses: uses.map(toShown) }, 2), "\n"]);
    else if (uses.length === 0) terminal.tell("nothing was used yet");
    else {
      const heading = ["WHEN", "TOOL", "SKILL", "DOOR", "SESSION"];
      await terminal.print(table(heading, uses.map(toRow), terminal.columns, terminal.paint));
    }
    return 0;
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    terminal.tell(error.message);
    return 1;
  }
}

/** Keys in a fixed order, named as on disk. */
function toShown({ at, tool, skill, sessionId, door }: LedgerEntry): object {
  return { at: new Date(at).toISOString(), tool, skill: skill ?? null, session_id: sessionId ?? null, door };
}

function toRow({ at, tool, skill = "", sessionId = "", door }: LedgerEntry): readonly string[] {
  const when = `${new Date(at).toISOString().slice(0, 19)}Z`;
  return [when, safeText(tool), safeText(skill), safeText(door), safeText(sessionId)];
}
