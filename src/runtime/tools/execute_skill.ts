import * as z from "zod";
import { type RunSpec, runResult } from "../runs/run-spec.ts";
import { type RunContext, defineTool } from "./tool.ts";
import { runArguments, wholeNumber } from "./parameters.ts";
import { type RunArguments, skillChanged } from "../runs/plan.ts";

const input = z.strictObject({
  name: z.string().describe("Skill name"),
  version: z.string().optional().describe("Skill version (omit for latest)"),
  args: runArguments.optional().describe("JSON-serializable arguments to pass to the skill"),
  input_blobs: z.array(z.string()).optional().describe("Blob IDs to mount in the sandbox"),
  timeout_ms: wholeNumber({ min: 1 }).optional().describe("Execution timeout in milliseconds"),
  script: z
    .string()
    .optional()
    .describe(
      "A script of the skill to run instead of its entrypoint (e.g., 'scripts/extract.py'); args is then {argv: [...], stdin?}",
    ),
});

export const executeSkill = defineTool({
  name: "execute_skill",
  description: "Execute a skill's entrypoint in an ephemeral sandbox.",
  input,
  output: runResult,
  async run(context, given, signal) {
    const spec = await planOf(context, given, signal);
    return { output: await context.runs().run(spec, context, signal), skill: spec.skill };
  },
  check: async (context, given, signal) =>
    await context.runs().check(await planOf(context, given, signal), context, signal),
});

async function planOf(context: RunContext, given: z.infer<typeof input>, signal: AbortSignal): Promise<RunSpec> {
  const { name, version, args, input_blobs: inputBlobs, timeout_ms: timeoutMs, script } = given;
  const request = { name, version, args: args as RunArguments | undefined, inputBlobs, timeoutMs, script };
  const spec = await context.runs().plan({ type: "skill", ...request }, context, signal);
  if (context.digest !== undefined && spec.skill?.digest !== context.digest) throw skillChanged(name);
  return spec;
}
