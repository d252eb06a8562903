import { homedir } from "node:os";
import { systemClock } from "../../base/clock.ts";
import { colourPaint, plainPaint, wantsColour } from "./colour.ts";
import type { Paint } from "./colour.ts";
import { currentDirectory } from "../arguments/current-directory.ts";
import { openProgress } from "./progress.ts";
import type { Progress } from "./progress.ts";
import { safeText } from "./safe-text.ts";

/** The process as a command sees it: results go to stdout, everything else to stderr. */
export interface Terminal {
  /** Throws UNREADABLE where the current directory has been deleted. */
  readonly cwd: string;
  readonly home: string;
  /** For stdout. */
  readonly paint: Paint;
  /** Width of stdout; undefined where it is not a terminal, so that nothing need be cut. */
  readonly columns: number | undefined;
  /** Aborted when nobody reads stdout any more (`| head`). */
  readonly readerGone: AbortSignal;
  /** Prints results in pieces. Resolves when the reader has taken them, or is gone. */
  print(pieces: Iterable<string>): Promise<void>;
  /** Passes bytes to stdout as they are, whatever they do to a terminal. Resolves as `print` does. */
  pass(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** One line on stderr, made safe. */
  tell(sentence: string): void;
  /** Text on stderr as it is; the caller has made it safe. */
  echo(text: string): void;
  /** What is going on, on stderr. Makes room for everything else that is printed. */
  readonly progress: Progress;
}

/** Pieces are gathered in one buffer of so many bytes, which is reused once the reader has taken them. */
const writeSize = 64 * 1024;

/** The terminal of this process; its streams are left alone until they are used. A reader that goes away ends the printing, and changes no exit code. */
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
    // If nobody reads stderr any more, that ends nothing.
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

/** Undefined too for a terminal that does not know its own, such as one of a test, and says 0. */
export function widthOf({
  isTTY,
  columns,
}: {
  readonly isTTY?: boolean;
  readonly columns?: number;
}): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined;
}
