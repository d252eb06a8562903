import { openWorkerEnd } from "../../base/threads/worker-end.ts";
import type { SettingsData } from "../../options.ts";
import { servePort } from "./serve-port.ts";

/** The entry of the thread that reads skills and runs tools. */

const { port, data, local } = openWorkerEnd();
servePort(port, { ...(data as SettingsData), ...local });
