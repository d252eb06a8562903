import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../base/clock.ts";
import { serveSkills } from "./serve-skills.ts";
import type { FromSkills, SkillsData } from "./skills-messages.ts";

/** The entry of the thread that runs the tools for an agent's own code. */

const port = parentPort;
if (port === null) throw new Error("worker.ts is the entry of a worker thread: remote-skills.ts starts it.");

const { settings, opening } = workerData as SkillsData;
serveSkills(
  port,
  {
    ...settings,
    clock: systemClock,
    log(level, message) {
      const told: FromSkills = { kind: "log", level, message };
      port.postMessage(told);
    },
  },
  opening,
);
