import { fieldsOf } from "../client/json.ts";
import { SkillsError } from "../base/errors.ts";
import { groupBy } from "../base/limited-map.ts";
import { parseIfJson } from "../base/json/json-value.ts";

/** The side that wrote a line. */
export type Side = "client" | "agent";

/** One line of a transcript: a message, or text that is not JSON. */
export interface TranscriptEntry {
  /** The line number from 1, in the file or in the recording. */
  readonly line: number;
  readonly from: Side;
  readonly message?: unknown;
  /** The beginning of a line that is not JSON. */
  readonly text?: string;
  /** The connection, where a transcript contains several. */
  readonly connection?: string;
}

/** The limits of a transcript: agents, clients and files are untrusted. */
export const limits = {
  messageBytes: 16 * 1024 * 1024,
  transcriptBytes: 64 * 1024 * 1024,
  entries: 100_000,
  /** How many characters of a line that is not JSON are recorded. */
  textLength: 200,
} as const;

export function otherSide(side: Side): Side {
  return side === "client" ? "agent" : "client";
}

/** The entry for a line as it was written. */
export function toTranscriptEntry(line: number, from: Side, written: string, connection?: string): TranscriptEntry {
  const base = { line, from, ...(connection !== undefined && { connection }) };
  const message = parseIfJson(written);
  return message === undefined ? { ...base, text: written.slice(0, limits.textLength) } : { ...base, message };
}

/** One line of NDJSON. */
export function formatTranscriptEntry({ connection, from, message, text }: Omit<TranscriptEntry, "line">): string {
  const about = { ...(connection !== undefined && { connection }), from };
  return `${JSON.stringify(text === undefined ? { ...about, message } : { ...about, text })}\n`;
}

/**
 * Reads a transcript: NDJSON with `{"from": "client"|"agent", "message": …}` on each line, or `"text"` for a line that was not JSON.
 * Throws INVALID_OPTIONS, which names the line, for anything else.
 */
export function readTranscript(text: string, name: string): readonly TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  for (const [index, written] of text.split("\n").entries()) {
    if (written.trim() === "") continue;
    if (entries.length >= limits.entries) throw invalid(name, index + 1, `more than ${limits.entries} messages`);
    entries.push(readEntry(written, index + 1, name));
  }
  if (entries.length === 0) throw invalid(name, 1, "no messages");
  return entries;
}

function readEntry(written: string, line: number, name: string): TranscriptEntry {
  const fields = fieldsOf(parseIfJson(written));
  if (fields === undefined) throw invalid(name, line, "not a JSON object");
  const { from, text, message, connection } = fields;
  if (from !== "client" && from !== "agent") throw invalid(name, line, '"from" must be "client" or "agent"');
  const about = { line, from, ...(typeof connection === "string" && { connection }) } as const;
  if (typeof text === "string") return { ...about, text: text.slice(0, limits.textLength) };
  if (message === undefined) throw invalid(name, line, '"message" is missing');
  return { ...about, message };
}

function invalid(name: string, line: number, reason: string): SkillsError {
  const form = '{"from": "client"|"agent", "message": {…}}';
  return new SkillsError("INVALID_OPTIONS", `${name}, line ${line}: ${reason}; a transcript has ${form} on each line`);
}

/** The entries of each connection, in order. */
export function byConnection(entries: readonly TranscriptEntry[]): ReadonlyMap<string, readonly TranscriptEntry[]> {
  return groupBy(entries, ({ connection = "" }) => connection);
}

/** Collects the entries of a connection. */
export interface Recorder {
  readonly entries: readonly TranscriptEntry[];
  /** Records a line unchanged; returns the reason if no more lines are recorded. */
  add(from: Side, written: string): string | undefined;
}

/** Collects the entries of several connections; lines are counted over all of them. */
export function createRecording(): Pick<Recorder, "entries"> & { readonly open: (connection: string) => Recorder } {
  const all: TranscriptEntry[] = [];
  let bytes = 0;
  return {
    entries: all,
    open(connection) {
      const own: TranscriptEntry[] = [];
      return {
        entries: own,
        add(from, written) {
          bytes += Buffer.byteLength(written);
          if (all.length >= limits.entries) return `more than ${limits.entries} messages were exchanged`;
          if (bytes > limits.transcriptBytes) return `more than ${limits.transcriptBytes} bytes were exchanged`;
          const entry = toTranscriptEntry(all.length + 1, from, written, connection);
          all.push(entry);
          own.push(entry);
          return undefined;
        },
      };
    },
  };
}
