import { homedir } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { colourPaint, plainPaint, wantsColour } from "./colour.ts";
import type { Paint } from "./colour.ts";
import { currentDirectory } from "../arguments/current-directory.ts";
import { openProgress } from "./progress.ts";
import type { Progress } from "./progress.ts";
import { safeText } from "./safe-text.ts";

/** The streams and the environment of a command: results go to stdout, everything else to stderr. */
export interface Terminal {
  /** Throws UNREADABLE if the current directory has been deleted. */
  readonly cwd: string;
  readonly home: string;
  /** For stdout. */
  readonly paint: Paint;
  /** Width of stdout; undefined if it is not a terminal, so that nothing is truncated. */
  readonly columns: number | undefined;
  /** Aborted when the reader closes stdout (`| head`). */
  readonly readerGone: AbortSignal;
  /** Prints results in chunks. Resolves when they have been written or stdout is closed. */
  print(pieces: Iterable<string>): Promise<void>;
  /** Writes bytes to stdout unchanged, including control characters. Resolves like `print`. */
  pass(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Prints one line on stderr, with control characters escaped. */
  tell(sentence: string): void;
  /** Writes text to stderr unchanged; the caller has made it safe. */
  echo(text: string): void;
  /** The progress line on stderr. It is erased before anything else is printed. */
  readonly progress: Progress;
}

/** The size of the one buffer that collects chunks; it is reused when they have been written. */
const writeSize = 64 * 1024;

/** The terminal of this process; streams are not touched before their first use. If the reader closes stdout, printing stops and the exit code stays the same. */
export function openTerminal(): Terminal {
  const { env } = process;
  const reader = new AbortController();
  const progress = once(() => openProgress(process.stderr, systemClock));
  const stdout = once(() => {
    process.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") reader.abort();
      if (reader.signal.aborted) return;
      process.stderr.write(`acp-skills: cannot write to stdout: ${error.message}\n`);
      process.exit(1);
    });
    return process.stdout;
  });
  const stderr = once(() => {
    // A closed stderr is not an error.
    process.stderr.on("error", () => undefined);
    return process.stderr;
  });
  return {
    get cwd() {
      return currentDirectory();
    },
    home: homedir(),
    paint: (style, text) => (wantsColour(env, process.stdout.isTTY) ? colourPaint : plainPaint)(style, text),
    get columns() {
      return widthOf(process.stdout);
    },
    get readerGone() {
      stdout();
      return reader.signal;
    },
    async print(pieces) {
      progress().erase();
      let buffer = Buffer.allocUnsafeSlow(writeSize);
      let filled = 0;
      const flush = async (): Promise<void> => {
        const bytes = buffer.subarray(0, filled);
        filled = 0;
        await new Promise<void>((resolve) => stdout().write(bytes, () => resolve()));
      };
      for (const piece of pieces) {
        if (reader.signal.aborted) return;
        const most = piece.length * 3;
        if (filled > 0 && filled + most > buffer.length) await flush();
        if (most > buffer.length) buffer = Buffer.allocUnsafeSlow(most);
        filled += buffer.write(piece, filled);
      }
      if (filled > 0) await flush();
    },
    async pass(chunks) {
      for await (const chunk of chunks) {
        if (reader.signal.aborted) return;
        await new Promise<void>((resolve) => stdout().write(chunk, () => resolve()));
      }
    },
    get progress() {
      return progress();
    },
    echo(text) {
      progress().erase();
      stderr().write(text);
    },
    tell(sentence) {
      progress().erase();
      stderr().write(`acp-skills: ${safeText(sentence)}\n`);
    },
  };
}

function once<Value>(open: () => Value): () => Value {
  let opened: { readonly value: Value } | undefined;
  return () => (opened ??= { value: open() }).value;
}

/** Also undefined for a terminal that reports a width of 0, as some do in tests. */
export function widthOf({
  isTTY,
  columns,
}: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined;
}
