import * as z from "zod";
import type { Arguments } from "./runs/check-args.ts";
import { planSkillRun } from "./runs/plan-skill-run.ts";
import { runResult } from "./runs/run-result.ts";
import { runOf } from "./runs/run-of.ts";
import { defineTool } from "./tool.ts";
import { wholeNumber } from "./whole-number.ts";

export const executeSkill = defineTool({
  name: "execute_skill",
  title: "Execute a skill",
  description: "Execute a skill's entrypoint in an ephemeral sandbox.",
  input: z.strictObject({
    name: z.string().describe("Skill name"),
    version: z.string().optional().describe("Skill version (omit for latest)"),
    args: z.record(z.string(), z.unknown()).optional().describe("JSON-serializable arguments to pass to the skill"),
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
  async run(context, { name, version, args, input_blobs, timeout_ms, script }, signal) {
    const { skill } = context.skills.find(name, version);
    const plan = await planSkillRun(context, skill, {
      args: args as Arguments | undefined,
      inputBlobs: input_blobs,
      timeoutMs: timeout_ms,
      script,
    });
    return { output: await runOf(context, plan, signal), skill };
  },
});
