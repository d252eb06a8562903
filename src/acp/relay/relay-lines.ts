import type { Readable, Writable } from "node:stream";
import { systemClock, timeWaited } from "../../base/clock.ts";
import { createDeferred } from "../../base/promises.ts";
import { LineBlocks } from "../../base/json/line-blocks.ts";

/** Passes blocks of lines on, in order: what arrives behind a line that waits for its verdict waits too. */
export interface LineQueue {
  push(blocks: readonly Buffer[]): void;
  /** Whether a line waits for its verdict. */
  isWaiting(): boolean;
  /** How many bytes wait behind it. */
  waitingBytes(): number;
}

/** Writes what comes before a line that waits: it may wait for the response to one of these. */
export type Flush = (pieces: readonly Buffer[]) => void;

/** Takes a block of whole lines and returns the bytes to write, after those that it flushed. */
export type PassLines = (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;

/** What lines pass through; another `pass` may take the place of the first. */
export interface LineFilter {
  pass: PassLines;
}

export interface LineQueueOptions {
  readonly filter: LineFilter;
  readonly write: (pieces: readonly Buffer[]) => void;
  /** Called when nothing waits any longer. */
  readonly idle: () => void;
}

export function createLineQueue({ filter, write, idle }: LineQueueOptions): LineQueue {
  /** Blocks behind the one that waits for its verdict; undefined while none does. */
  let queue: Buffer[] | undefined;
  let queuedBytes = 0;

  async function passQueue(first: Promise<Buffer[]>): Promise<void> {
    write(await first);
    for (let block = queue?.shift(); block !== undefined; block = queue?.shift()) {
      queuedBytes -= block.length;
      write(await filter.pass(block, write));
    }
    queue = undefined;
    idle();
  }

  return {
    push(blocks) {
      const pieces: Buffer[] = [];
      const flush: Flush = (early) => write([...pieces.splice(0), ...early]);
      for (const block of blocks) {
        if (queue !== undefined) {
          queue.push(block);
          queuedBytes += block.length;
          continue;
        }
        const passed = filter.pass(block, flush);
        if (passed instanceof Promise) {
          queue = [];
          void passQueue(passed);
        } else pieces.push(...passed);
      }
      write(pieces);
    },
    isWaiting: () => queue !== undefined,
    waitingBytes: () => queuedBytes,
  };
}

/** A one-way connection of two byte streams. */
export interface Relay {
  /** Resolves when the source has ended; what came from it may still wait to be passed on. Never rejects. */
  readonly sourceEnded: Promise<void>;
  /** Resolves when the source has ended and all of it was written to the sink. Never rejects. */
  readonly ended: Promise<void>;
  /** How long this thread has waited for the rest of lines that had begun, in all, in milliseconds. */
  waitedInLines(): number;
  /** Whether bytes were passed on or held back since the last call. */
  isActive(): boolean;
  /** Detaches from both streams; what the source still has stays there. */
  stop(): void;
}

/** How many bytes are read behind a line that waits for its verdict: enough to notice that the source has ended. */
const queueLimit = 1024 * 1024;

/** What passes the blocks of lines of a relay on. */
type Passing = Pick<LineQueue, "push" | "isWaiting" | "waitingBytes">;

/**
 * Writes the lines of `source` to `sink` as the filter flushes and returns them, in order, with backpressure. When the sink has failed, the
 * source is drained, so that its writer can end. Bytes after the last line break are passed on too.
 */
export function relayLines(source: Readable, sink: Writable, filter: LineFilter): Relay {
  return relayBlocks(source, sink, (sinkAndIdle) => createLineQueue({ filter, ...sinkAndIdle }));
}

/** Relays lines as {@link relayLines} does, with a queue of the caller's. */
export function relayBlocks(
  source: Readable,
  sink: Writable,
  open: (options: Pick<LineQueueOptions, "write" | "idle">) => Passing,
): Relay {
  const lines = new LineBlocks();
  let isSinkGone = sink.destroyed;
  let hasEnded = false;
  let hasFlown = false;
  let waitedInLines = 0;
  let idleAtChunk = 0;
  const sourceEnded = createDeferred();
  const ended = createDeferred();

  const passing = open({
    write(pieces) {
      if (isSinkGone || pieces.length === 0) return;
      // One system call for all of them.
      sink.cork();
      for (const piece of pieces) sink.write(piece);
      sink.uncork();
      if (sink.writableNeedDrain) source.pause();
    },
    idle() {
      if (hasEnded) resolveEnded();
      else resume();
    },
  });

  function passOn(blocks: readonly Buffer[]): void {
    passing.push(blocks);
    if (passing.waitingBytes() >= queueLimit) source.pause();
  }

  function resolveEnded(): void {
    if (!passing.isWaiting()) ended.resolve();
  }

  function resume(): void {
    if (passing.waitingBytes() < queueLimit && (isSinkGone || !sink.writableNeedDrain)) source.resume();
  }

  const onData = (chunk: Buffer): void => {
    hasFlown = true;
    const idle = timeWaited(systemClock);
    if (lines.isInside()) waitedInLines += idle - idleAtChunk;
    idleAtChunk = idle;
    passOn(lines.push(chunk));
  };
  const onSinkGone = (): void => {
    isSinkGone = true;
    resume();
  };
  const onEnd = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    sourceEnded.resolve();
    const rest = lines.rest();
    if (rest !== undefined) passOn([rest]);
    resolveEnded();
  };

  source.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  sink.on("drain", resume).on("error", onSinkGone).on("close", onSinkGone);
  if (source.readableEnded || source.destroyed) onEnd();
  return {
    sourceEnded: sourceEnded.promise,
    ended: ended.promise,
    waitedInLines: () => waitedInLines,
    isActive() {
      const isActive = hasFlown || passing.isWaiting() || (!isSinkGone && sink.writableNeedDrain);
      hasFlown = false;
      return isActive;
    },
    stop() {
      // The error listeners stay: an error without one ends the process.
      source.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
      sink.off("drain", resume).off("close", onSinkGone);
    },
  };
}

/** Writes lines; `written` is called when a line was written, or never will be. */
export function lineWriter(output: Writable): (line: Uint8Array, written: () => void) => void {
  return (line, written) => {
    if (output.destroyed) written();
    else output.write(line, () => written());
  };
}

/** Waits until all written data has been flushed, or the output is closed. */
export async function flush(output: Writable): Promise<void> {
  if (output.destroyed || output.writableEnded) return;
  await new Promise<void>((resolve) => output.write("", () => resolve()));
}
