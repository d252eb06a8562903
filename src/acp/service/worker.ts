import { openWorkerEnd } from "../../base/threads.ts";
import type { SettingsData } from "../../options.ts";
import { servePort } from "./serve-port.ts";

/** The entry of the service's thread. */

const { port, data, local } = openWorkerEnd();
servePort(port, { ...(data as SettingsData), ...local });
