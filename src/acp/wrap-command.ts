import type { ExitStatus } from "./process/start-agent.ts";
import type { WrapCommandOptions } from "./process/wrap-command.ts";

/**
 * Runs an agent command between `input` and `output`, with skills; resolves when the agent has exited. Messages that do not concern
 * skills are forwarded byte for byte. A command that cannot be started is logged, with exit code 127 or 126. Its code is loaded by the
 * call. Rejects with SkillsError INVALID_OPTIONS.
 */
export async function wrapCommand(options: WrapCommandOptions): Promise<ExitStatus> {
  const { wrapCommand: wrap } = await import("./process/wrap-command.ts");
  return await wrap(options);
}
