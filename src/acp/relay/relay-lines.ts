import type { Readable, Writable } from "node:stream";
import { systemClock, timeWaited } from "../../base/clock.ts";
import { createDeferred } from "../../base/promises.ts";
import { LineBlocks } from "../../base/json/line-blocks.ts";

/** A queue that passes blocks of lines on, in order. Lines after a line that waits for its verdict wait, too. */
export interface LineQueue {
  push(blocks: readonly Buffer[]): void;
  /** Whether a line waits for its verdict. */
  isWaiting(): boolean;
  /** Returns the number of bytes after the line that waits for its verdict. */
  waitingBytes(): number;
}

/** Writes the lines before a line that waits, which may wait for the response to one of them. */
export type Flush = (pieces: readonly Buffer[]) => void;

/** Takes a block of whole lines, and returns the bytes to write after those that it flushed. */
export type PassLines = (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;

/** The filter of the lines; `pass` may be replaced at any time. */
export interface LineFilter {
  pass: PassLines;
}

export interface LineQueueOptions {
  readonly filter: LineFilter;
  readonly write: (pieces: readonly Buffer[]) => void;
  /** Called when no line waits any longer. */
  readonly idle: () => void;
}

export function createLineQueue({ filter, write, idle }: LineQueueOptions): LineQueue {
  /** The blocks after the one that waits for its verdict; undefined while none waits. */
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
  /** Resolves when the source has ended; lines of it may still wait to be passed on. Never rejects. */
  readonly sourceEnded: Promise<void>;
  /** Resolves when the source has ended and all its lines were written to the sink. Never rejects. */
  readonly ended: Promise<void>;
  /** Returns the total time, in milliseconds, for which this thread has waited for the rest of lines that had begun. */
  waitedInLines(): number;
  /** Whether bytes were passed on or held back since the last call. */
  isActive(): boolean;
  /** Detaches from both streams. Unread data stays in the source. */
  stop(): void;
}

/** The maximum number of bytes that are read after a line that waits for its verdict: enough to notice that the source has ended. */
const queueLimit = 1024 * 1024;

/** The queue that passes a relay's blocks of lines on. */
type Passing = Pick<LineQueue, "push" | "isWaiting" | "waitingBytes">;

/**
 * Writes the lines of `source` to `sink` as the filter flushes and returns them, in order, with backpressure. If the sink fails, the
 * source is drained, so that its writer can end. Bytes after the last line break are passed on, too.
 */
export function relayLines(source: Readable, sink: Writable, filter: LineFilter): Relay {
  return relayBlocks(source, sink, (sinkAndIdle) => createLineQueue({ filter, ...sinkAndIdle }));
}

/** Relays lines like {@link relayLines}, with the caller's queue. */
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
      // Corking makes one system call of all writes.
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

/** Creates a function that writes lines. `written` is called when a line was written, or never will be. */
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
