import { existsSync } from "node:fs";
import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { type Clock, systemClock } from "./clock.ts";
import type { Log } from "./log.ts";
import { urlOf } from "./url-of.ts";

/** A way to send messages to another end, usually another thread. */
export interface Channel<Message> {
  /** Transferred buffers are moved, not copied: they become unusable here. */
  post(message: Message, transferred?: ArrayBuffer[]): void;
  /** Keeps the process alive until `letGo`. */
  hold(): void;
  letGo(): void;
  /** Ends the other end immediately. */
  end(): void;
}

/** Opens a channel, which does not keep the process alive. `ended` is called once, with the reason, when nothing more will arrive. */
export type OpenChannel<To, From> = (received: (message: From) => void, ended: (reason: string) => void) => Channel<To>;

/** Asks the other end to close by a message, and ends it if it has not within `ms`. `ended` resolves when it has ended. */
export async function closeChannel<To>(
  channel: Channel<To>,
  message: To,
  { ended, clock, ms }: { readonly ended: Promise<void>; readonly clock: Clock; readonly ms: number },
): Promise<void> {
  channel.hold();
  channel.post(message);
  const stopTimer = clock.after(ms, () => {
    channel.end();
  });
  await ended;
  stopTimer();
}

interface Served {
  /** The file that a worker starts with: `new URL("./worker.js", import.meta.url)`. */
  readonly entry: URL;
  /** Its path in the package. A file with that name elsewhere, such as next to a bundle, is not used. */
  readonly place: string;
  readonly workerData: unknown;
  /** Does on this thread what the worker would do. */
  readonly serve: (port: MessagePort) => Promise<void>;
  readonly log: Log;
}

/**
 * Opens a channel to a worker thread. If the worker file is missing, as in a bundle, logs that and runs everything on this thread.
 */
export function chooseChannel<To, From>({ entry, place, workerData, serve, log }: Served): OpenChannel<To, From> {
  if (entry.pathname.endsWith(`/${place}`) && existsSync(entry)) return workerChannel(entry, workerData);
  // Only the built package has worker files; sources have none.
  if (!urlOf(import.meta).endsWith(".ts"))
    log(
      "info",
      `Skills are read on the calling thread: dist/${place} of acp-skills was not found (is it bundled?). Keep acp-skills out of the bundle (external) to use a thread of its own.`,
    );
  return sameThreadChannel(serve);
}

/** Opens a channel to a new worker thread with this entry file and this `workerData`. */
export function workerChannel<To, From>(entry: URL, workerData: unknown): OpenChannel<To, From> {
  return (received, ended) => {
    // What it prints by mistake must not reach our stdout, which belongs to the protocol.
    const worker = new Worker(entry, { workerData, stdout: true, name: "acp-skills" });
    worker.on("message", (message: From) => {
      received(message);
    });
    worker.on("error", (error: unknown) => {
      ended(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
    worker.on("exit", (code) => {
      ended(`Its thread ended with code ${code}.`);
    });
    worker.unref();
    return {
      post(message, transferred = []) {
        worker.postMessage(message, transferred);
      },
      hold() {
        worker.ref();
      },
      letGo() {
        worker.unref();
      },
      end() {
        void worker.terminate();
      },
    };
  };
}

/** A channel to something on this very thread, for where no file is there to start another with. */
export function sameThreadChannel<To, From>(serve: (port: MessagePort) => Promise<void>): OpenChannel<To, From> {
  return (received, ended) => {
    const { port1: ours, port2: theirs } = new MessageChannel();
    ours.on("message", (message: From) => {
      received(message);
    });
    ours.on("close", () => {
      ended("Its channel was closed.");
    });
    ours.unref();
    serve(theirs).then(
      () => {
        theirs.unref();
      },
      (error: unknown) => {
        ended(error instanceof Error ? error.message : String(error));
      },
    );
    return {
      post(message, transferred = []) {
        ours.postMessage(message, transferred);
      },
      hold() {
        ours.ref();
      },
      letGo() {
        ours.unref();
      },
      end() {
        ours.close();
      },
    };
  };
}

/** What a worker thread starts with: the other end of {@link OpenChannel}. */
interface WorkerEnd {
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
