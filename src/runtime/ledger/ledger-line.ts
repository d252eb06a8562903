import { createHash } from "node:crypto";
import { isObject, parseIfJson } from "../../base/json/json-value.ts";
import type { LedgerEntry } from "../ledger.ts";
import type { ChainEnd } from "./chain.ts";

export const outcomes = ["started", "completed", "failed", "refused", "asked", "allowed", "denied"] as const;

/** Longer texts from outside, such as questions, are recorded as their start, end, length and digest, so that a line is bounded. */
const maxTextLength = 256;
const [startLength, endLength] = [128, 64];

function boundedText(text: string): string {
  if (text.length <= maxTextLength) return text;
  const digest = createHash("sha256").update(text).digest("hex");
  return `${text.slice(0, startLength)} … ${text.slice(-endLength)} (${text.length} characters, sha256:${digest})`;
}

/** The names on disk of the fields that hold text. */
const textKeys = {
  event: "event",
  tool: "tool",
  caller: "caller",
  project: "project",
  skill: "skill",
  asked: "asked",
  version: "version",
  digest: "digest",
  runId: "run_id",
  isolation: "isolation",
  outcome: "outcome",
  code: "code",
  about: "about",
  answer: "answer",
  grant: "grant",
  sessionId: "session_id",
  door: "door",
} as const;

type TextField = keyof typeof textKeys;
const textFields = Object.keys(textKeys) as TextField[];

/** An entry as a line of JSON without its line end, of bounded length. `end`: of the rows before it. Throws for an invalid time. */
export function toLedgerLine(entry: LedgerEntry, end: ChainEnd): string {
  const texts = textFields.map((field) => {
    const text = entry[field];
    return [textKeys[field], text === undefined ? undefined : boundedText(text)];
  });
  const { count } = entry;
  return JSON.stringify({
    at: new Date(entry.at).toISOString(),
    ...Object.fromEntries(texts),
    count,
    after: end.rows,
    chain: end.digest,
  });
}

interface LedgerLine {
  readonly entry?: LedgerEntry;
  /** Of the rows before it. Absent in lines of earlier versions. */
  readonly before?: ChainEnd;
}

/** What is in a line; nothing of one that is torn, damaged, or of another program. */
export function fromLedgerLine(line: string): LedgerLine {
  const values = parse(line);
  const { after, chain, count } = values;
  const before =
    typeof after === "number" && typeof chain === "string" ? { before: { rows: after, digest: chain } } : {};
  const at = typeof values["at"] === "string" ? Date.parse(values["at"]) : Number.NaN;
  const texts: { [Field in TextField]?: string } = {};
  for (const field of textFields) {
    const value = values[textKeys[field]];
    if (typeof value === "string") texts[field] = value;
  }
  const { tool, door, outcome, ...rest } = texts;
  if (Number.isNaN(at) || tool === undefined || door === undefined) return before;
  const known = outcomes.find((one) => one === outcome);
  const counted = typeof count === "number" ? { count } : {};
  return { entry: { at, tool, ...rest, ...counted, ...(known !== undefined && { outcome: known }), door }, ...before };
}

function parse(line: string): Partial<Record<string, unknown>> {
  const value = parseIfJson(line); // A line may be torn.
  return isObject(value) ? value : {};
}
