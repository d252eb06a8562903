/** One use of a tool or a skill. */
export interface LedgerEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** A tool, or `prompt` for a skill that a person called by `/name`. */
  readonly tool: string;
  /** The skill's canonical name. */
  readonly skill?: string;
  readonly version?: string;
  readonly runId?: string;
  /** Absent in lines of earlier versions. */
  readonly outcome?: Outcome;
  /** Why it failed or was refused. */
  readonly code?: string;
  readonly sessionId?: string;
  /** The door that the call came through. */
  readonly door: string;
}

type Outcome = (typeof outcomes)[number];

const outcomes = ["completed", "failed", "refused"] as const;

/** The port to the record of uses. Bounded: the oldest entries are removed. */
export interface Ledger {
  /** Keeps an entry. Never throws: an answer does not depend on the ledger. */
  record(entry: LedgerEntry): void;
  /** The entries, oldest first; unreadable lines are skipped. */
  read(): AsyncIterable<LedgerEntry>;
  /** Entries after it are ignored. Idempotent; never throws. */
  close(): void;
}

/** Texts from outside, such as session ids, are cut to this length, so that a line is bounded. */
const maxTextLength = 256;

/** The names on disk of the fields that hold text. */
const textKeys = {
  tool: "tool",
  skill: "skill",
  version: "version",
  runId: "run_id",
  outcome: "outcome",
  code: "code",
  sessionId: "session_id",
  door: "door",
} as const;

type TextField = keyof typeof textKeys;
const textFields = Object.keys(textKeys) as TextField[];

/** An entry as a line of JSON with its line end, at most a few KiB long. Throws for an invalid time. */
export function toLedgerLine(entry: LedgerEntry): string {
  const texts = textFields.map((field) => [textKeys[field], entry[field]?.slice(0, maxTextLength)]);
  return `${JSON.stringify({ at: new Date(entry.at).toISOString(), ...Object.fromEntries(texts) })}\n`;
}

/** The entry in a line. Undefined for a line that is torn, damaged, or of another program. */
export function fromLedgerLine(line: string): LedgerEntry | undefined {
  const values = parse(line);
  const at = typeof values["at"] === "string" ? Date.parse(values["at"]) : Number.NaN;
  const texts: { [Field in TextField]?: string } = {};
  for (const field of textFields) {
    const value = values[textKeys[field]];
    if (typeof value === "string") texts[field] = value;
  }
  const { tool, door, outcome, ...rest } = texts;
  if (Number.isNaN(at) || tool === undefined || door === undefined) return undefined;
  const known = outcomes.find((one) => one === outcome);
  return { at, tool, ...rest, ...(known !== undefined && { outcome: known }), door };
}

function parse(line: string): Partial<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {}; // A torn line.
  }
}
