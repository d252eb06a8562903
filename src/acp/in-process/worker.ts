import { createWorkerEnd } from "../../base/processes/threads.ts";
import { serveSkills, type SkillsData } from "./serve-skills.ts";

/** The entry of the thread that runs the tools for `openSkills`. */

const { port, data, local } = createWorkerEnd();
const { settings, opening } = data as SkillsData;
serveSkills(port, { ...settings, ...local }, opening);
