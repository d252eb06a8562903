import { homedir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { styleText } from "node:util";
import { type Clock, systemClock } from "../../base/clock.ts";
import { SkillsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Ask, Question } from "../../runtime/question.ts";
import { type Progress, createProgress } from "./progress.ts";
import { jsonObject } from "./json-output.ts";
import { safeText } from "./safe-text.ts";
import { quoted } from "../../base/text/quoted.ts";
import { type ExitCode, exit } from "../exit-code.ts";
import type { ChangedFile } from "../../skills/files.ts";

/** The standard streams of a process. `columns` counts only for a terminal. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The streams and the environment of a command: results go to stdout, everything else to stderr. */
export interface Terminal {
  /** The current directory. Throws UNREADABLE if it has been deleted. */
  readonly cwd: string;
  readonly home: string;
  readonly stdin: Streams["stdin"];
  /** Colours text for stdout. */
  readonly paint: Paint;
  /** Width of stdout; undefined if it is not a terminal, so that nothing is truncated. */
  readonly columns: number | undefined;
  /** Aborted when the reader closes stdout (`| head`). */
  readonly readerGone: AbortSignal;
  /** Prints results in chunks. Resolves when they have been written or stdout is closed. */
  print(pieces: Iterable<string>): Promise<void>;
  /** Prints the output of `--json`: an object with these fields and the version of the schema. */
  printJson(fields: object): Promise<void>;
  /** Writes bytes to stdout unchanged, including control characters. Resolves like `print`. */
  pass(chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Prints one line on stderr, and the rest indented below it, with control characters escaped. */
  note(sentence: string, ...rest: readonly string[]): void;
  /** Writes warnings and errors to stderr, one line each. */
  readonly log: Log;
  /** Writes text to stderr unchanged; the caller has made it safe. */
  echo(text: string): void;
  /** Asks the user at the terminal; undefined if stdin or stderr is not a terminal. */
  readonly ask: Ask | undefined;
  /** The progress line on stderr. It is erased before anything else is printed. */
  readonly progress: Progress;
}

/** A terminal that prints notes on stderr. */
export type NoteOutput = Pick<Terminal, "note">;

/** A terminal that shows progress. */
export type ProgressOutput = Pick<Terminal, "progress">;

/** The size in bytes of the buffer that collects chunks; the buffer is reused after each write. */
const writeSize = 64 * 1024;

/**
 * Creates the terminal of this process. Streams are not touched before their first use. If the reader closes stdout, printing stops and
 * the exit code stays the same. `isQuiet` is called before progress is first shown.
 */
export function createTerminal(streams: Streams, isQuiet = (): boolean => false, clock: Clock = systemClock): Terminal {
  const { env } = process;
  const reader = new AbortController();
  const progress = once(() =>
    streams.stderr.isTTY === true && !isQuiet() ? createProgress(streams.stderr, clock) : noProgress,
  );
  const stdout = once(() => {
    streams.stdout.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") reader.abort();
      if (reader.signal.aborted) return;
      streams.stderr.write(`acp-skills: cannot write to stdout: ${error.message}\n`);
      process.exit(exit.unable);
    });
    return streams.stdout;
  });
  const stderr = once(() => {
    // A closed stderr is not an error.
    streams.stderr.on("error", () => undefined);
    return streams.stderr;
  });
  const terminal: Terminal = {
    get cwd() {
      return currentDirectory();
    },
    home: homedir(),
    get stdin() {
      return streams.stdin;
    },
    paint: (style, text) => (wantsColour(env, streams.stdout.isTTY === true) ? colourPaint : plainPaint)(style, text),
    get columns() {
      return widthOf(streams.stdout);
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
        const maxBytes = piece.length * 3;
        if (filled > 0 && filled + maxBytes > buffer.length) await flush();
        if (maxBytes > buffer.length) buffer = Buffer.allocUnsafeSlow(maxBytes);
        filled += buffer.write(piece, filled);
      }
      if (filled > 0) await flush();
    },
    printJson: (fields) => terminal.print([jsonObject(fields)]),
    async pass(chunks) {
      for await (const chunk of chunks) {
        if (reader.signal.aborted) return;
        await new Promise<void>((resolve) => stdout().write(chunk, () => resolve()));
      }
    },
    get ask() {
      if (streams.stdin.isTTY !== true || streams.stderr.isTTY !== true) return undefined;
      return askAtTerminal(streams.stdin, streams.stderr, progress());
    },
    get progress() {
      return progress();
    },
    get log() {
      const stream = stderr();
      return createStderrLog((line) => stream.write(line));
    },
    echo(text) {
      progress().erase();
      stderr().write(text);
    },
    note(...lines) {
      progress().erase();
      stderr().write(`acp-skills: ${lines.map(safeText).join("\n  ")}\n`);
    },
  };
  return terminal;
}

/** Writes warnings and errors to stderr, one line each. */
export function createStderrLog(write: (line: string) => void): Log {
  return (level, message) => {
    if (level !== "info") write(`acp-skills: ${safeText(message)}\n`);
  };
}

const nothing = (): void => undefined;

/** The progress of a quiet command, or without a terminal: shows nothing. */
const noProgress: Progress = { show: nothing, erase: nothing, done: nothing };

function once<Value>(open: () => Value): () => Value {
  let opened: { readonly value: Value } | undefined;
  return () => (opened ??= { value: open() }).value;
}

/** The width of a terminal; undefined for other streams, and for a terminal that reports a width of 0, as some do in tests. */
export function widthOf({ isTTY, columns }: Pick<Streams["stdout"], "isTTY" | "columns">): number | undefined {
  return isTTY === true && columns !== undefined && columns > 0 ? columns : undefined;
}

/** Prints at most `maxLines` lines on stderr, then how many others there are. */
export function noteSome(lines: readonly string[], maxLines: number, { note }: NoteOutput): void {
  for (const line of lines.slice(0, maxLines)) note(line);
  if (lines.length > maxLines) note(`and ${lines.length - maxLines} more`);
}

/** An AbortSignal for SIGINT and SIGTERM; a second signal terminates the process. */
export function onInterruption(): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const interrupt = (): void => {
    stop();
    controller.abort(new Error("interrupted"));
  };
  const stop = (): void => {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, interrupt);
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, interrupt);
  return { signal: controller.signal, stop };
}

/** Runs `work` until SIGINT or SIGTERM. Returns its exit code, or 130 with the note `what` if a signal ended it. */
export async function interruptible(
  { note }: NoteOutput,
  work: (signal: AbortSignal) => Promise<ExitCode>,
  what = "interrupted",
): Promise<ExitCode> {
  const { signal, stop } = onInterruption();
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    note(what);
    return exit.interrupted;
  } finally {
    stop();
  }
}

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Colours a text, or returns it unchanged if colours are off. */
export type Paint = (style: Style, text: string) => string;

export const plainPaint: Paint = (_style, text) => text;

/** Colours a text without checking the stream; `wantsColour` decides whether to use it. */
export const colourPaint: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Whether to colour: FORCE_COLOR decides first (`0` and `false` mean no), then NO_COLOR, then whether it is a terminal with colours. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if (env["NO_COLOR"]) return false;
  return isTerminal && env["TERM"] !== "dumb";
}

/** The current directory of this process. Throws UNREADABLE if it has been deleted. */
export function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const message = "The current directory cannot be read; it may have been deleted. Change to another one.";
    throw new SkillsError("UNREADABLE", message, { cause: error });
  }
}

/** The maximum number of files in a question; further files are only counted. */
const maxFiles = 20;

/**
 * Asks the user at a terminal. Empty input or the end of input refuses for now; other input that is no choice repeats the question. Ends
 * progress first, so that its line does not overwrite the prompt.
 */
export function askAtTerminal(input: Readable, output: Writable, progress: Pick<Progress, "done">): Ask {
  return async (question, signal, shown) => {
    progress.done();
    const { createInterface } = process.getBuiltinModule("node:readline");
    const lines = createInterface({ input, terminal: false, signal });
    output.write(`${inText(question)}${promptOf(question)}`);
    shown?.();
    try {
      for await (const line of lines) {
        if (line.trim() === "") return { answer: "not-now" };
        const option = question.options[Number(line) - 1];
        if (option !== undefined) return { answer: option.answer };
        output.write(promptOf(question));
      }
      // Nothing ended the line of the prompt.
      output.write("\n");
      signal.throwIfAborted();
      return { missing: "cancelled" };
    } finally {
      lines.close();
    }
  };
}

function promptOf({ options }: Question): string {
  const usual = options.findIndex(({ answer }) => answer === "not-now") + 1;
  return `choose 1 to ${options.length} [${usual}]: `;
}

function inText({ title, wants, widened, signed, expects, hostCommands, changed, options }: Question): string {
  const unseen = wants.filter((words) => !widened.includes(words));
  const lines = [
    `acp-skills: ${safeText(title)}`,
    ...unseen.map((words) => `  it ${safeText(words)}`),
    ...widened.map((words) => `  new: ${safeText(words)}`),
    ...[signed, expects, hostCommands].flatMap((words) => (words === undefined ? [] : [`  ${safeText(words)}`])),
    ...changed
      .slice(0, maxFiles)
      .map((file) => `  ${wordOf(file)}: ${safeText(quoted(file.path, { maxLength: 1_024 }))}`),
    ...(changed.length > maxFiles ? [`  and ${changed.length - maxFiles} more files`] : []),
    ...options.map(({ label }, index) => `  ${index + 1}  ${safeText(label)}`),
  ];
  return `${lines.join("\n")}\n`;
}

function wordOf({ before, after }: ChangedFile): string {
  if (before === undefined && after !== undefined) return "new or changed file";
  return after === undefined ? "removed or changed file" : "changed file";
}
