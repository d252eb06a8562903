import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Settings } from "../../options.ts";
import { openRemoteService } from "./remote-service.ts";
import { sameThreadChannel } from "./same-thread-channel.ts";
import type { SkillService } from "./skill-service.ts";
import { workerChannel } from "./worker-channel.ts";

/**
 * Opens the service on a thread of its own. Where the thread's file does not lie beside this one, as in a bundle, everything happens
 * on this thread, and the log says what is missing.
 */
export function openService(settings: Settings): SkillService {
  const entry = new URL("./worker.js", import.meta.url);
  if (existsSync(entry)) return openRemoteService(settings, workerChannel(entry));
  // In a checkout, the sources have none either.
  if (!import.meta.url.endsWith(".ts")) {
    const file = fileURLToPath(entry);
    settings.log(
      "info",
      `Skills are read on the thread that carries messages, because ${file} is missing (a bundle?).`,
    );
  }
  return openRemoteService(settings, sameThreadChannel);
}
