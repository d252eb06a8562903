import { isWithin } from "../../../base/paths/location.ts";
import { type LedgerEntry, ledgerDirectory, localLedger, outcomes, verifyLedger } from "../../../runtime/ledger.ts";
import { shortDigest } from "../../../skills/hash.ts";
import { cluster, recordsOfCluster } from "../../arguments/cluster-option.ts";
import { json, dataNote } from "../../arguments/shared-options.ts";
import { parseSince, readNamedFile, toAbsolute } from "../../arguments/values.ts";
import { defineCommand, usageError, flag, text, choice, type ExitCode, exit } from "../../command.ts";
import { defaultDataDirectory } from "../../../base/paths/directories.ts";
import { table } from "../../report/table.ts";
import { safeText } from "../../report/safe-text.ts";
import type { Terminal } from "../../report/terminal.ts";

export const command = defineCommand({
  usage: "ledger [verify] [options]",
  positionals: { name: "action: verify", minimum: 0, maximum: 1, values: ["verify"] },
  options: {
    since: text("DURATION|DATE", "Only what happened in the last 2h or 7d, or since 2026-11-22[T10:00Z]."),
    skill: text("NAME", "Only what concerns this skill."),
    outcome: choice(outcomes, "Only what ended like this."),
    caller: text("NAME", "Only what this caller of a server, or user of this machine, did."),
    project: text("DIR", "Only what was done in this project, or below its directory."),
    grant: text("ID", "Only what this grant allows, and how it came and went."),
    audit: text("FILE", "verify: also compare with a file that serve --audit wrote."),
    cluster,
    lines: flag("Print JSON Lines: one object a row, in the order in which they were recorded."),
    json,
  },
  examples: ["ledger --since 2h", "ledger --skill deploy --outcome denied", "ledger --caller ci", "ledger verify"],
  notes: [
    "Every use of a tool or skill, every question about a skill with its answer, every change of approvals and of installed skills, and the start of every run that goes beyond its sandbox: without the ledger, no such run starts.",
    "Decisions and runs are stored for 90 days ($ACP_SKILLS_LEDGER_DAYS), of each at most 64 MiB ($ACP_SKILLS_LEDGER_MIB); of reads and refusals the last 2 MiB. Refusals of one caller that follow each other are counted in one row a minute.",
    "verify: each row has a digest of all rows before it. Names the first row that is missing or was changed, and exits with 1 then.",
    "--cluster: what all servers, wrappers and workers recorded; months are dropped after 400 days, or $ACP_SKILLS_LEDGER_DAYS of a server.",
    dataNote,
  ],
  async run(
    { options: { since, project, json: asJson, audit, cluster: url, lines, ...rest }, positionals: [action] },
    terminal,
  ) {
    if (action === "verify" && url !== undefined)
      throw usageError("the rows of a cluster are protected by its database; verify is for those of this machine");
    if (action === "verify") return await verify(audit, asJson === true, terminal);
    if (action !== undefined) throw usageError(`unknown action ${action}; use verify, or none`);
    if (audit !== undefined) throw usageError("--audit is for ledger verify");
    const isMeant = filterOf({
      since: since === undefined ? -Infinity : parseSince("--since", since, Date.now()),
      project: project === undefined ? undefined : toAbsolute(project),
      ...rest,
    });
    const shared = await recordsOfCluster(url, terminal);
    const opened = shared?.ledger ?? localLedger(defaultDataDirectory(terminal.home), { log: terminal.log });
    const uses: LedgerEntry[] = [];
    let isEmpty = true;
    const printed = async (): Promise<void> =>
      await terminal.print(uses.splice(0).map((entry) => `${JSON.stringify(toShown(entry))}\n`));
    try {
      for await (const entry of opened.read()) {
        isEmpty = false;
        if (!isMeant(entry)) continue;
        if (uses.push(entry) === linesAtOnce && lines === true) await printed();
      }
      if (lines === true) await printed();
    } finally {
      opened.close();
      await shared?.close();
    }
    if (lines === true) return exit.done;
    uses.sort((a, b) => a.at - b.at);
    if (asJson === true) await terminal.printJson({ uses: uses.map(toShown) });
    else if (isEmpty) terminal.note("the ledger is empty");
    else if (uses.length === 0) terminal.note("nothing in the ledger matches");
    else await terminal.print(table(heading, uses.map(toRow), terminal));
    return exit.done;
  },
});

const linesAtOnce = 1_000;

/** The maximum size of an audit file, half the maximum length of a string. */
const maxAuditBytes = 256 * 1024 * 1024;

async function verify(audit: string | undefined, asJson: boolean, terminal: Terminal): Promise<ExitCode> {
  const lines = audit === undefined ? [] : readNamedFile(audit, maxAuditBytes).split("\n");
  const rooms = await verifyLedger(ledgerDirectory(defaultDataDirectory(terminal.home)), lines);
  const isIntact = rooms.every(({ fault }) => fault === undefined);
  if (asJson) await terminal.printJson({ intact: isIntact, rooms });
  else {
    const rows = rooms.map(({ room, first, last, unchained, digest, fault }) => {
      const old = unchained === 0 ? "" : `, ${unchained} of an earlier version`;
      const number = last < first ? "no rows" : `rows ${first} to ${last}${old}`;
      return [
        room,
        number,
        fault === undefined ? "intact" : `row ${fault.row} is missing or was changed: ${fault.why}`,
        digest,
      ];
    });
    await terminal.print(table(["WHAT", "ROWS", "STATE", "DIGEST"], rows, terminal));
  }
  return isIntact ? exit.done : exit.found;
}

interface Filter extends Partial<Pick<LedgerEntry, "outcome" | "caller" | "grant">> {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** The canonical name or the slug. */
  readonly skill?: string;
  /** An absolute path. */
  readonly project: string | undefined;
}

function filterOf({ since, skill, project, ...exact }: Filter): (entry: LedgerEntry) => boolean {
  const isNamed = (name = ""): boolean =>
    skill === undefined || name.replaceAll(".", "-") === skill.replaceAll(".", "-");
  const wanted = Object.entries(exact) as [keyof typeof exact, string | undefined][];
  return (entry) =>
    entry.at >= since &&
    (isNamed(entry.skill) || isNamed(entry.asked)) &&
    (project === undefined || (entry.project !== undefined && isWithin(entry.project, project))) &&
    wanted.every(([name, value]) => value === undefined || entry[name] === value);
}

const shownFields =
  "event tool caller project skill asked version digest outcome code runId isolation count about answer grant sessionId subagent door".split(
    " ",
  ) as readonly (keyof LedgerEntry)[];

/** An entry as JSON, with keys in a fixed order, named as on disk. */
function toShown(entry: LedgerEntry): object {
  const fields = shownFields.map((field) => [
    field.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`),
    entry[field] ?? null,
  ]);
  return { at: new Date(entry.at).toISOString(), ...(Object.fromEntries(fields) as object) };
}

const heading = "WHEN BY WHERE WHAT SKILL VERSION DIGEST OUTCOME RUN DOOR SESSION DETAILS".split(" ");

function toRow(entry: LedgerEntry): readonly string[] {
  const { at, caller, project, event, tool, skill, asked, version, digest = "", outcome, code, runId, door } = entry;
  const when = `${new Date(at).toISOString().slice(0, 19)}Z`;
  const ending = [outcome, code].filter((word) => word !== undefined).join(" ");
  const name = skill ?? (asked === undefined ? undefined : `"${asked}"`);
  const texts = [caller, project, event ?? tool, name, version, shortDigest(digest), ending, runId, door];
  return [when, ...[...texts, entry.sessionId, detailsOf(entry)].map((text = "") => safeText(text))];
}

function detailsOf({ event, answer, grant, about, isolation, subagent, count }: LedgerEntry): string {
  // The answer that made the grant begins with it, so the grant is not repeated.
  const by = grant === undefined || answer?.split(",")[0] === grant ? undefined : `by ${grant}`;
  const bare = isolation === "none" ? "WITHOUT A SANDBOX" : undefined;
  const times = count === undefined || event === "dropped" ? undefined : `${count} times more`;
  const who = subagent === undefined ? undefined : `subagent ${subagent}`;
  return [bare, answer, by, about, who, times].filter((fact) => fact !== undefined).join(", ");
}
