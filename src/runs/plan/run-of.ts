import { SkillsError } from "../../errors.ts";
import { permissionsOf } from "../../skills/manifest/permissions-of.ts";
import type { RunContext } from "../../tools/tool.ts";
import type { Arguments } from "./check-args.ts";
import { planSkillRun } from "./plan-skill-run.ts";
import type { RunPlan } from "./run-plan.ts";
import type { RunResult } from "../record/run-result.ts";
import type { RunCaller, Runs } from "../runs.ts";

/** Carries a plan out for the caller of a tool. */
export async function runOf(context: RunContext, plan: RunPlan, signal: AbortSignal): Promise<RunResult> {
  return await runsOf(context).run(plan, toCaller(context), signal);
}

/** What a plan comes to, as JSON for people. Throws as the run would before it starts. */
export async function checkOf(context: RunContext, plan: RunPlan): Promise<unknown> {
  const { isolation, run } = await runsOf(context).check(plan, toCaller(context));
  const { skill, program, limits } = plan;
  return {
    ...(skill !== undefined && { skill: skill.name, version: skill.version, permissions: permissionsOf(skill) }),
    program: program.type === "script" ? { script: program.file, argv: program.argv } : { args: program.args },
    isolation,
    mounted: run.skills.map(({ name, files }) => ({ skill: name, files: files.length })),
    called_apart: run.brokered,
    blobs: run.blobs.map(({ id }) => id),
    ...(run.project !== undefined && { project: run.project.writable ? "write" : "read" }),
    limits: {
      timeout_ms: limits.timeoutMs,
      memory_mb: limits.memoryBytes / 1024 / 1024,
      processes: limits.processes,
      disk_mb: limits.diskBytes / 1024 / 1024,
    },
  };
}

function runsOf({ runs }: RunContext): Runs {
  if (runs === undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", "Nothing is executed here.");
  return runs;
}

/** Who asks for a run, for the rooms that carry it out. */
function toCaller(context: RunContext): RunCaller {
  const { owner, blobs, limits, skills, sourceOf, project, projectIdentity, onEvent, onNested } = context;
  return {
    owner,
    blobs,
    runBlobs: limits.runBlobs,
    sourceOf,
    isOwn: (skill) => skills.isOwn(skill),
    ownPlaces: () => skills.ownPlaces(),
    ...(project !== undefined && { project, projectIdentity }),
    ...(onEvent !== undefined && { onPrint: (text: string) => onEvent({ runId: "", type: "printed", text }) }),
    onNested,
    planSkill: (skill, args, leftMs) => planSkillRun(context, skill, { args: args as Arguments, leftMs }),
  };
}
