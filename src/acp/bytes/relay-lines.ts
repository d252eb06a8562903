import type { Readable, Writable } from "node:stream";
import { openLineBlocks } from "./line-blocks.ts";
import type { Flush } from "./pass-block.ts";

/** A one-way connection of two byte streams. */
export interface Relay {
  /** Resolves when the source has ended and all of it was handed to the sink. Never rejects. */
  readonly ended: Promise<void>;
  /** True while bytes flow or the sink makes us wait: since it was last asked, something was passed on or held back. */
  isActive(): boolean;
  /** Lets go of both streams; what the source still has stays there. */
  stop(): void;
}

/**
 * Writes the lines of `source` to `sink` as `pass` flushes and returns them, in order, never faster than the sink takes them.
 * When the sink is gone, the source is read on and dropped, so that whoever writes to it can end. Bytes after the last line
 * break are passed on too.
 */
export function relayLines(
  source: Readable,
  sink: Writable,
  pass: (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>,
): Relay {
  const lines = openLineBlocks();
  let isSinkGone = sink.destroyed;
  /** A block is being looked at: nothing may overtake it. */
  let isWaiting = false;
  let hasEnded = false;
  let hasFlown = false;
  let finish = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    finish = resolve;
  });

  function write(pieces: readonly Buffer[]): void {
    if (isSinkGone || pieces.length === 0) return;
    // As one: each write is a call of the system.
    sink.cork();
    for (const piece of pieces) sink.write(piece);
    sink.uncork();
    if (sink.writableNeedDrain) source.pause();
  }

  function passOn(blocks: readonly Buffer[]): void {
    const pieces: Buffer[] = [];
    const flush: Flush = (early) => {
      write([...pieces.splice(0), ...early]);
    };
    for (const [index, block] of blocks.entries()) {
      const passed = pass(block, flush);
      if (passed instanceof Promise) {
        void passLater(passed, blocks.slice(index + 1));
        return;
      }
      pieces.push(...passed);
    }
    write(pieces);
  }

  async function passLater(first: Promise<Buffer[]>, others: readonly Buffer[]): Promise<void> {
    isWaiting = true;
    source.pause();
    write(await first);
    for (const block of others) write(await pass(block, write));
    // The source may have ended, in error, while it was paused; what came last was left then.
    const rest = hasEnded ? lines.rest() : undefined;
    if (rest !== undefined) write(await pass(rest, write));
    isWaiting = false;
    if (hasEnded) finish();
    else goOn();
  }

  function goOn(): void {
    if (!isWaiting && (isSinkGone || !sink.writableNeedDrain)) source.resume();
  }

  const onData = (chunk: Buffer): void => {
    hasFlown = true;
    passOn(lines.push(chunk));
  };
  const onSinkGone = (): void => {
    isSinkGone = true;
    goOn();
  };
  const onEnd = (): void => {
    if (hasEnded) return;
    const rest = isWaiting ? undefined : lines.rest();
    hasEnded = true;
    if (rest !== undefined) passOn([rest]);
    if (!isWaiting) finish();
  };

  source.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  sink.on("drain", goOn).on("error", onSinkGone).on("close", onSinkGone);
  if (source.readableEnded || source.destroyed) onEnd();
  return {
    ended,
    isActive() {
      const isActive = hasFlown || isWaiting || (!isSinkGone && sink.writableNeedDrain);
      hasFlown = false;
      return isActive;
    },
    stop() {
      // The error listeners stay: an error without one ends the process.
      source.off("data", onData).off("end", onEnd).off("close", onEnd).pause();
      sink.off("drain", goOn).off("close", onSinkGone);
    },
  };
}
