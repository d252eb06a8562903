import type { Skill } from "../../skills/skill.ts";
import { invalidInput } from "../../base/invalid-input.ts";
import type { RunContext } from "../../tools/tool.ts";
import type { Arguments } from "./check-args.ts";
import { splitByNeeds } from "./plan-skill-run.ts";
import { checkDepth, findBlobs } from "./run-arguments.ts";
import { limitsOf, maxMountedSkills } from "./run-limits.ts";
import type { RunPlan } from "./run-plan.ts";

export interface CodeRunRequest {
  readonly code: string;
  readonly entrypoint: string;
  readonly args?: Arguments | undefined;
  readonly mountSkills?: readonly string[] | undefined;
  readonly inputBlobs?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
}

const tool = "run_code";
const maxCodeBytes = 1024 * 1024;

/** Checks a request to run code that the model wrote (CONTRACT C-5.3). Throws what is wrong with the request itself. */
export async function planCodeRun(context: RunContext, request: CodeRunRequest): Promise<RunPlan> {
  const { code, entrypoint, args = {}, mountSkills = [], inputBlobs = [], timeoutMs } = request;
  if (Buffer.byteLength(code) > maxCodeBytes) {
    throw invalidInput(tool, [{ field: "/code", expected: `at most ${maxCodeBytes} bytes`, actual: "more" }]);
  }
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(entrypoint)) {
    const expected = "the name of a function that the code defines";
    throw invalidInput(tool, [{ field: "/entrypoint", expected, actual: entrypoint.slice(0, 80) }]);
  }
  if (mountSkills.length > maxMountedSkills) {
    const expected = `at most ${maxMountedSkills} names`;
    throw invalidInput(tool, [{ field: "/mount_skills", expected, actual: mountSkills.length }]);
  }
  checkDepth(tool, args);
  const skills = new Map<string, Skill>();
  for (const name of mountSkills) {
    const { skill } = context.skills.find(name);
    skills.set(skill.name, skill);
  }
  return {
    program: { type: "code", code, entrypoint, args },
    ...splitByNeeds(context, [...skills.values()]),
    blobs: await findBlobs(context, tool, inputBlobs, args),
    ...limitsOf({ timeoutMs }),
  };
}
