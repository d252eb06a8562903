import * as z from "zod";
import { SkillsError } from "../../base/errors.ts";
import { runResult } from "../runs/run-spec.ts";
import { defineTool } from "./tool.ts";
import { runArguments, wholeNumber } from "./parameters.ts";
import type { RunArguments } from "../runs/plan.ts";

export const runCode = defineTool({
  name: "run_code",
  description: `Execute LLM-written code in a sandbox with specified skills and blobs mounted. Define main(args); it is called with args, and what it returns is the output:
def main(args):
    return {"total": args["a"] + args["b"]}`,
  input: z.strictObject({
    language: z
      .string()
      .meta({ enum: ["python"] })
      .describe("Programming language (MVP: python only)"),
    code: z.string().describe("Source code to execute"),
    entrypoint: z.string().default("main").describe("Function name to call"),
    args: runArguments.optional().describe("Arguments to pass to entrypoint function"),
    mount_skills: z.array(z.string()).optional().describe("Skill names to mount in sandbox"),
    input_blobs: z.array(z.string()).optional().describe("Blob IDs to mount in sandbox"),
    limits: z
      .strictObject({ timeout_ms: wholeNumber({ min: 1 }).optional() })
      .optional()
      .describe("Execution limits"),
  }),
  output: runResult,
  async run(context, { language, code, entrypoint, args, mount_skills, input_blobs, limits }, signal) {
    if (language !== "python") throw unsupported(language);
    const runs = context.runs();
    const request = {
      type: "code",
      code,
      entrypoint,
      args: args as RunArguments | undefined,
      mountSkills: mount_skills,
      inputBlobs: input_blobs,
      timeoutMs: limits?.timeout_ms,
    } as const;
    const spec = await runs.plan(request, context, signal);
    // The code can read the files of mounted skills and return them.
    for (const { slug, version } of spec.mounts)
      await context.mayRead(context.skills.find(slug, version).skill, signal);
    return { output: await runs.run(spec, context, signal) };
  },
});

function unsupported(language: string): SkillsError {
  const message = `Unsupported language ${JSON.stringify(language.slice(0, 40))}.`;
  const facts = { available: ["python"], hint: "Write it in Python." };
  return new SkillsError("UNSUPPORTED_LANGUAGE", message, { facts });
}
