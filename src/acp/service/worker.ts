import { createWorkerEnd } from "../../base/processes/threads.ts";
import type { SettingsData } from "../../runtime/options.ts";
import { servePort } from "./serve-port.ts";

/** The entry of the service's thread. */

const { port, data, local } = createWorkerEnd();
servePort(port, { ...(data as SettingsData), ...local });
