import { createHash } from "node:crypto";
import { isSkillsError, SkillsError } from "../../errors.ts";
import { runProgram } from "../../spawn-process.ts";

/** What decides whether packages that were installed for one interpreter serve another. */
export interface PythonBuild {
  readonly version: string;
  /** Tags of implementation, platform and C library, such as `cpython-311-x86_64-linux-gnu`. */
  readonly abi: string;
  readonly platform: string;
}

const question = [
  "import json, sys, sysconfig",
  "abi = sysconfig.get_config_var('SOABI') or sys.implementation.cache_tag",
  "print(json.dumps([sys.version.split()[0], abi, sysconfig.get_platform()]))",
].join("\n");
const patienceMs = 10_000;

/** Asks an interpreter what it is. Throws SANDBOX_UNAVAILABLE where it does not answer. */
export async function readPythonBuild(python: string): Promise<PythonBuild> {
  try {
    const stdout = await runProgram(python, ["-I", "-S", "-c", question], { timeout: patienceMs });
    const [version = "", abi = "", platform = ""] = JSON.parse(stdout) as string[];
    return { version, abi, platform };
  } catch (error) {
    if (isSkillsError(error)) throw error;
    throw new SkillsError("SANDBOX_UNAVAILABLE", `The Python interpreter ${JSON.stringify(python)} does not run.`, {
      cause: error,
      facts: { python },
    });
  }
}

/** Names the environment of a requirements file under an interpreter: the same for the same bytes and the same build. */
export function toRequirementsKey(requirements: Uint8Array, { version, abi, platform }: PythonBuild): string {
  const file = createHash("sha256").update(requirements).digest("hex");
  return createHash("sha256")
    .update(JSON.stringify([1, file, version, abi, platform]))
    .digest("hex");
}
