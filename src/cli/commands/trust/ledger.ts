import path from "node:path";
import { type LedgerEntry, diskLedger, outcomes } from "../../../runtime/ledger.ts";
import { shortDigest } from "../../../runtime/question.ts";
import { json, notes } from "../../arguments/shared-options.ts";
import { parseSince } from "../../arguments/since.ts";
import { defineCommand } from "../../command.ts";
import { collect, dataDirectory } from "../../data-directory.ts";
import { table } from "../../report/columns.ts";
import { safeText } from "../../report/safe-text.ts";

export const command = defineCommand({
  usage: "ledger [options]",
  options: {
    since: {
      type: "string",
      value: "DURATION|DATE",
      help: "Only what happened in the last 90m, 2h or 7d, or since a date such as 2026-11-22 or 2026-11-22T10:00Z.",
    },
    skill: { type: "string", value: "NAME", help: "Only what concerns this skill." },
    outcome: { type: "string", choices: outcomes, help: "Only what ended like this." },
    json,
  },
  examples: ["ledger --since 2h", "ledger --skill deploy --outcome denied"],
  notes: [
    "Every use of a tool or skill, every question about a skill with its answer, and the start of every run that goes beyond its sandbox: without the ledger, no such run starts.",
    "The oldest entries are removed: about the last 2 MiB are kept.",
    notes.data,
  ],
  async run({ options: { since, skill, outcome, json: asJson } }, terminal) {
    const isMeant = filterOf({
      since: since === undefined ? -Infinity : parseSince("--since", since, Date.now()),
      skill,
      outcome,
    });
    const opened = diskLedger(path.join(dataDirectory(terminal), "ledger"), { log: terminal.log });
    const all = await collect(opened.read());
    opened.close();
    const uses = all.filter(isMeant).sort((a, b) => a.at - b.at);
    if (asJson === true) await terminal.printJson({ uses: uses.map(toShown) });
    else if (all.length === 0) terminal.tell("the ledger is empty");
    else if (uses.length === 0) terminal.tell("nothing in the ledger matches");
    else await terminal.print(table(heading, uses.map(toRow), terminal));
    return 0;
  },
});

interface Filter {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Canonical name or slug. */
  readonly skill: string | undefined;
  readonly outcome: LedgerEntry["outcome"] | undefined;
}

function filterOf({ since, skill, outcome }: Filter): (entry: LedgerEntry) => boolean {
  const slug = skill?.replaceAll(".", "-");
  return (entry) =>
    entry.at >= since &&
    (slug === undefined || entry.skill?.replaceAll(".", "-") === slug) &&
    (outcome === undefined || entry.outcome === outcome);
}

/** Keys in a fixed order, named as on disk. */
function toShown(entry: LedgerEntry): object {
  return {
    at: new Date(entry.at).toISOString(),
    event: entry.event ?? null,
    tool: entry.tool,
    skill: entry.skill ?? null,
    version: entry.version ?? null,
    digest: entry.digest ?? null,
    outcome: entry.outcome ?? null,
    code: entry.code ?? null,
    run_id: entry.runId ?? null,
    about: entry.about ?? null,
    answer: entry.answer ?? null,
    grant: entry.grant ?? null,
    session_id: entry.sessionId ?? null,
    door: entry.door,
  };
}

const heading = ["WHEN", "WHAT", "SKILL", "VERSION", "DIGEST", "OUTCOME", "RUN", "DOOR", "SESSION", "DETAILS"];

function toRow(entry: LedgerEntry): readonly string[] {
  const { at, event, tool, skill, version, digest = "", outcome, code, runId, door, sessionId } = entry;
  const when = `${new Date(at).toISOString().slice(0, 19)}Z`;
  const ending = [outcome, code].filter((word) => word !== undefined).join(" ");
  const texts = [event ?? tool, skill, version, shortDigest(digest), ending, runId, door, sessionId, detailsOf(entry)];
  return [when, ...texts.map((text = "") => safeText(text))];
}

function detailsOf({ answer, grant, about }: LedgerEntry): string {
  // What allowed it may be the answer itself, which says so at its start.
  const by = grant === undefined || answer?.split(",")[0] === grant ? undefined : `by ${grant}`;
  return [answer, by, about].filter((fact) => fact !== undefined).join(", ");
}
