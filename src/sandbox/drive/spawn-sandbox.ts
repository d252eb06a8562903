import type { ChildProcess, SpawnOptions } from "node:child_process";
import { isSkillsError, SkillsError } from "../../errors.ts";
import { spawnProcess } from "../../base/processes/spawn-process.ts";

/** Starts the first process of a sandbox. Throws SANDBOX_UNAVAILABLE, or RUNTIME_BUSY where a retry may succeed. */
export async function spawnSandbox(
  file: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  try {
    return await spawnProcess(file, args, options);
  } catch (error) {
    if (isSkillsError(error)) throw error;
    throw new SkillsError("SANDBOX_UNAVAILABLE", `The sandbox did not start: ${String(error)}`, { cause: error });
  }
}
