import type { LedgerEntry } from "./ledger.ts";

/** Texts from outside, such as session ids, are cut to this, so that a line has a bound. */
const maxTextLength = 256;

/** An entry as a line of JSON with its line end, in at most a few KiB. */
export function toLedgerLine(entry: LedgerEntry): string {
  const { at, tool, skill, sessionId, door } = cutTexts(entry);
  return `${JSON.stringify({ at: new Date(at).toISOString(), tool, skill, session_id: sessionId, door })}\n`;
}

/** What a line says. Undefined for one that is torn, damaged, or from somewhere else. */
export function fromLedgerLine(line: string): LedgerEntry | undefined {
  const { at, tool, skill, session_id: sessionId, door } = parse(line);
  const time = typeof at === "string" ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time) || typeof tool !== "string" || typeof door !== "string") return undefined;
  return {
    at: time,
    tool,
    ...(typeof skill === "string" && { skill }),
    ...(typeof sessionId === "string" && { sessionId }),
    door,
  };
}

/** The same entry with every text in bounds. */
export function cutTexts({ at, tool, skill, sessionId, door }: LedgerEntry): LedgerEntry {
  const cut = (text: string): string => text.slice(0, maxTextLength);
  return {
    at,
    tool: cut(tool),
    ...(skill !== undefined && { skill: cut(skill) }),
    ...(sessionId !== undefined && { sessionId: cut(sessionId) }),
    door: cut(door),
  };
}

function parse(line: string): Partial<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    // A torn line: there is nothing in it to be had.
    return {};
  }
}
