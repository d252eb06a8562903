import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { isSkillsError, SkillsError } from "../../errors.ts";
import { runProgram } from "../../base/processes/spawn-process.ts";

/** Identifies interpreters that can share installed packages. */
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

/** Queries an interpreter. Throws SANDBOX_UNAVAILABLE if it does not run. */
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

/** The key of a requirements file: equal for the same bytes, interpreter build and package source. */
export function toRequirementsKey(
  requirements: Uint8Array,
  { version, abi, platform }: PythonBuild,
  source: PackageSource,
): string {
  return createHash("sha256")
    .update(JSON.stringify([2, hash("sha256", requirements), version, abi, platform, source]))
    .digest("hex");
}

/** The source of packages: the user's own indexes, or exactly these wheels. */
export type PackageSource = "index" | `wheels:${string}`;

/** Identifies a directory of wheels by its content, not by its path. */
export async function readWheelSource(directory: string): Promise<PackageSource> {
  const digest = createHash("sha256");
  for (const name of (await readdir(directory)).sort()) {
    const file = path.join(directory, name);
    if (!(await stat(file)).isFile()) continue;
    const content = createHash("sha256");
    for await (const chunk of createReadStream(file)) content.update(chunk as Buffer);
    digest.update(JSON.stringify([name, content.digest("hex")]));
  }
  return `wheels:${digest.digest("hex")}`;
}

/** The name of the record of what was installed for one skill directory and one interpreter. */
export function toNoteName(
  skillDirectory: string,
  requirements: Uint8Array,
  { version, abi, platform }: PythonBuild,
): string {
  return createHash("sha256")
    .update(JSON.stringify(["note", skillDirectory, hash("sha256", requirements), version, abi, platform]))
    .digest("hex");
}
