import type { Flush } from "./intercept-bytes.ts";

/** Passes blocks of lines on, in order: what arrives behind a line that waits for its verdict waits too. */
export interface LineQueue {
  push(blocks: readonly Buffer[]): void;
  /** Whether a line waits for its verdict. */
  isWaiting(): boolean;
  /** How many bytes wait behind it. */
  waitingBytes(): number;
}

export interface LineQueueOptions {
  readonly pass: (block: Buffer, flush: Flush) => Buffer[] | Promise<Buffer[]>;
  readonly write: (pieces: readonly Buffer[]) => void;
  /** Called when nothing waits any longer. */
  readonly idle: () => void;
}

export function createLineQueue({ pass, write, idle }: LineQueueOptions): LineQueue {
  /** Blocks behind the one that waits for its verdict; undefined while none does. */
  let queue: Buffer[] | undefined;
  let queuedBytes = 0;

  async function passQueue(first: Promise<Buffer[]>): Promise<void> {
    write(await first);
    for (let block = queue?.shift(); block !== undefined; block = queue?.shift()) {
      queuedBytes -= block.length;
      write(await pass(block, write));
    }
    queue = undefined;
    idle();
  }

  return {
    push(blocks) {
      const pieces: Buffer[] = [];
      const flush: Flush = (early) => {
        write([...pieces.splice(0), ...early]);
      };
      for (const block of blocks) {
        if (queue !== undefined) {
          queue.push(block);
          queuedBytes += block.length;
          continue;
        }
        const passed = pass(block, flush);
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
