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
