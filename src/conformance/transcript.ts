/** Who wrote a line. */
export type Side = "client" | "agent";

/** One line of a transcript: a message, or text that is not JSON. */
export interface TranscriptEntry {
  /** Counted from 1, in the file or in the recording. */
  readonly line: number;
  readonly from: Side;
  readonly message?: unknown;
  /** The beginning of a line that is not JSON. */
  readonly text?: string;
  /** The connection, where a transcript contains several. */
  readonly connection?: string;
}

/** What a transcript may consume: agents, clients and files are untrusted. */
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
  try {
    return { ...base, message: JSON.parse(written) as unknown };
  } catch {
    return { ...base, text: written.slice(0, limits.textLength) };
  }
}

/** One line of NDJSON. */
export function formatTranscriptEntry({ connection, from, message, text }: Omit<TranscriptEntry, "line">): string {
  const about = { ...(connection !== undefined && { connection }), from };
  return `${JSON.stringify(text === undefined ? { ...about, message } : { ...about, text })}\n`;
}
