import { type TranscriptEntry, limits, type Side, toTranscriptEntry } from "../transcript.ts";

/** Collects the entries of several connections; lines are counted over all of them. */
export interface Recording {
  readonly entries: readonly TranscriptEntry[];
  open(connection: string): Recorder;
}

export interface Recorder {
  readonly entries: readonly TranscriptEntry[];
  /** Records a line as it was written; returns why no more are recorded. */
  add(from: Side, written: string): string | undefined;
  last(): TranscriptEntry | undefined;
}

export function createRecording(): Recording {
  const all: TranscriptEntry[] = [];
  let bytes = 0;
  return {
    entries: all,
    open(connection) {
      const own: TranscriptEntry[] = [];
      return {
        entries: own,
        last: () => own.at(-1),
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
