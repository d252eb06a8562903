import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../../base/clock.ts";
import type { SettingsData } from "../../options.ts";
import { servePort } from "./serve-port.ts";
import type { FromService } from "./service-messages.ts";

/** The entry of the thread that reads skills and runs tools. */

const port = parentPort;
if (port === null) throw new Error("worker.ts is the entry of a worker thread: open-service.ts starts it.");

servePort(port, {
  ...(workerData as SettingsData),
  clock: systemClock,
  log(level, message) {
    const told: FromService = { kind: "log", level, message };
    port.postMessage(told);
  },
});
