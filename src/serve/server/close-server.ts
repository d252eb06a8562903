import type { Server, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";

const closeIdleEveryMs = 100;
/** For the answers of requests that were cancelled. */
const lastAnswersMs = 500;

/**
 * Stops accepting, waits until all requests and held work have ended or `seconds` are over, then calls `cancel` and closes what is left. Resolves with
 * the number of those that were cancelled.
 */
export async function closeServer(
  server: Server,
  {
    clock,
    seconds,
    running,
    held,
    cancel,
  }: {
    readonly clock: Clock;
    readonly seconds: number;
    readonly running: ReadonlySet<ServerResponse>;
    readonly held: ReadonlySet<Promise<void>>;
    readonly cancel: () => void;
  },
): Promise<number> {
  const ended = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  // A connection whose request ended after `close` would stay open until its timeout.
  const stopClosingIdle = every(clock, closeIdleEveryMs, () => {
    server.closeIdleConnections();
  });
  let cancelled = 0;
  const stopWaiting = clock.after(seconds * 1_000, () => {
    cancelled = running.size + held.size;
    cancel();
    clock.after(lastAnswersMs, () => {
      server.closeAllConnections();
    });
  });
  await Promise.all([ended, ...held]);
  stopWaiting();
  stopClosingIdle();
  return cancelled;
}

function every(clock: Clock, ms: number, work: () => void): () => void {
  let stop = (): void => undefined;
  const again = (): void => {
    work();
    stop = clock.after(ms, again);
  };
  again();
  return () => stop();
}
