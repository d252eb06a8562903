import * as z from "zod";
import type { Arguments } from "../runs/plan/check-args.ts";
import { planSkillRun } from "../runs/plan/plan-skill-run.ts";
import { runArguments } from "../runs/plan/run-arguments-schema.ts";
import { runResult } from "../runs/record/run-result.ts";
import { checkOf, runOf } from "../runs/plan/run-of.ts";
import type { RunPlan } from "../runs/plan/run-plan.ts";
import { defineTool } from "./tool.ts";
import type { RunContext } from "./tool.ts";
import { wholeNumber } from "./input/whole-number.ts";

export const executeSkill = defineTool({
  name: "execute_skill",
  title: "Execute a skill",
  description: "Execute a skill's entrypoint in an ephemeral sandbox.",
  input: z.strictObject({
    name: z.string().describe("Skill name"),
    version: z.string().optional().describe("Skill version (omit for latest)"),
    args: runArguments.optional().describe("JSON-serializable arguments to pass to the skill"),
    input_blobs: z.array(z.string()).optional().describe("Blob IDs to mount in the sandbox"),
    timeout_ms: wholeNumber({ least: 1 }).optional().describe("Execution timeout in milliseconds"),
    script: z
      .string()
      .optional()
      .describe("A script of the skill to run instead, such as scripts/extract.py; args is then {argv: [...], stdin?}"),
  }),
  output: runResult,
  annotations: Object.freeze({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  }),
  async run(context, input, signal) {
    const plan = await planOf(context, input);
    const output = await runOf(context, plan, signal);
    return { output, ...(plan.skill !== undefined && { skill: plan.skill }) };
  },
  check: async (context, input) => await checkOf(context, await planOf(context, input)),
});

interface Input {
  readonly name: string;
  readonly version?: string | undefined;
  readonly args?: unknown;
  readonly input_blobs?: readonly string[] | undefined;
  readonly timeout_ms?: number | undefined;
  readonly script?: string | undefined;
}

async function planOf(context: RunContext, input: Input): Promise<RunPlan> {
  const { name, version, args, input_blobs, timeout_ms, script } = input;
  const { skill } = context.skills.find(name, version);
  return await planSkillRun(context, skill, {
    args: args as Arguments | undefined,
    inputBlobs: input_blobs,
    timeoutMs: timeout_ms,
    script,
  });
}
