import { parentPort, workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { type Clock, systemClock } from "../clock.ts";
import type { Log } from "../log.ts";

/** What a worker thread starts with: the other end of {@link OpenChannel}. */
export interface WorkerEnd {
  readonly port: MessagePort;
  readonly data: unknown;
  /** The settings that cannot be sent to a thread. Log messages are posted as `{kind: "log", level, message}`. */
  readonly local: { readonly clock: Clock; readonly log: Log };
}

/** Throws outside of a worker thread. */
export function openWorkerEnd(): WorkerEnd {
  const port = parentPort;
  if (port === null) throw new Error("This file is the entry of a worker thread; it cannot be imported.");
  const log: Log = (level, message) => {
    port.postMessage({ kind: "log", level, message });
  };
  return { port, data: workerData, local: { clock: systemClock, log } };
}
