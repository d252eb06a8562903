import type { LedgerEntry } from "./ledger.ts";

/** Texts from outside, such as session ids, are cut to this, so that a line has a bound. */
const maxTextLength = 256;

/** An entry as a line of JSON with its line end, in at most a few KiB. Throws for a time that is none. */
export function toLedgerLine(entry: LedgerEntry): string {
  const { at, tool, skill, sessionId, door } = entry;
  const line = {
    at: new Date(at).toISOString(),
    tool: cut(tool),
    ...(skill !== undefined && { skill: cut(skill) }),
    ...(sessionId !== undefined && { session_id: cut(sessionId) }),
    door: cut(door),
  };
  return `${JSON.stringify(line)}\n`;
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

function cut(text: string): string {
  return text.slice(0, maxTextLength);
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
