import { existsSync } from "node:fs";
import type { MessagePort } from "node:worker_threads";
import type { Log } from "../log.ts";
import type { OpenChannel } from "./channel.ts";
import { sameThreadChannel } from "./same-thread-channel.ts";
import { workerChannel } from "./worker-channel.ts";
import { urlOf } from "../url-of.ts";

export interface Served {
  /** The file that a worker starts with: `new URL("./worker.js", import.meta.url)`. */
  readonly entry: URL;
  /** Its path in the package. Elsewhere, such as beside a bundle, a file of that name is somebody else's. */
  readonly place: string;
  readonly workerData: unknown;
  /** Does on this thread what the worker does; loaded only where it is needed. */
  readonly serve: (port: MessagePort) => Promise<void>;
  readonly log: Log;
}

/**
 * A channel to a thread of its own. Where its file is not there, as in a bundle, everything happens on this thread, and the log says so.
 */
export function chooseChannel<To, From>({ entry, place, workerData, serve, log }: Served): OpenChannel<To, From> {
  if (entry.pathname.endsWith(`/${place}`) && existsSync(entry)) return workerChannel(entry, workerData);
  // Sources have none either: only what is built does.
  if (!urlOf(import.meta).endsWith(".ts"))
    log(
      "info",
      `Skills are read on the thread that calls, because ${place} of this package is not beside the code (a bundle?).`,
    );
  return sameThreadChannel(serve);
}
