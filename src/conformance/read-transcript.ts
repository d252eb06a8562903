import { fieldsOf } from "../client/json.ts";
import { SkillsError } from "../base/errors.ts";
import { type TranscriptEntry, limits } from "./transcript.ts";

/**
 * Reads a transcript: NDJSON with `{"from": "client"|"agent", "message": …}` a line, or `"text"` for what was not JSON. Throws
 * INVALID_OPTIONS that names the line if it is none.
 */
export function readTranscript(text: string, name: string): readonly TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  let line = 0;
  for (const written of linesOf(text)) {
    line++;
    if (written.trim() === "") continue;
    if (entries.length >= limits.entries) throw invalid(name, line, `more than ${limits.entries} messages`);
    entries.push(readEntry(written, line, name));
  }
  if (entries.length === 0) throw invalid(name, 1, "no messages");
  return entries;
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf("\n", start);
    yield text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length : end + 1;
  }
}

function readEntry(written: string, line: number, name: string): TranscriptEntry {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    throw invalid(name, line, "not JSON");
  }
  const fields = fieldsOf(value);
  const { from, text, connection } = fields ?? {};
  if (from !== "client" && from !== "agent") throw invalid(name, line, '"from" must be "client" or "agent"');
  const about: Pick<TranscriptEntry, "line" | "from" | "connection"> = {
    line,
    from,
    ...(typeof connection === "string" && { connection }),
  };
  if (typeof text === "string") return { ...about, text: text.slice(0, limits.textLength) };
  if (fields?.["message"] === undefined) throw invalid(name, line, '"message" is missing');
  return { ...about, message: fields["message"] };
}

function invalid(name: string, line: number, reason: string): SkillsError {
  return new SkillsError(
    "INVALID_OPTIONS",
    `${name}, line ${line}: ${reason}; a transcript has {"from": "client"|"agent", "message": {…}} on each line`,
  );
}

/** The entries of each connection, in order. */
export function byConnection(entries: readonly TranscriptEntry[]): ReadonlyMap<string, readonly TranscriptEntry[]> {
  const connections = new Map<string, TranscriptEntry[]>();
  for (const entry of entries) {
    const { connection = "" } = entry;
    const before = connections.get(connection);
    if (before === undefined) connections.set(connection, [entry]);
    else before.push(entry);
  }
  return connections;
}
