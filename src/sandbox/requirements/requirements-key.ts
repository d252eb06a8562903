import { createHash, hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { isSkillsError, SkillsError } from "../../errors.ts";
import { runProgram } from "../../base/processes/spawn-process.ts";

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

/** Names the environment of a requirements file: the same for the same bytes, the same build and the same source. */
export function toRequirementsKey(
  requirements: Uint8Array,
  { version, abi, platform }: PythonBuild,
  source: PackageSource,
): string {
  return createHash("sha256")
    .update(JSON.stringify([2, hash("sha256", requirements), version, abi, platform, source]))
    .digest("hex");
}

/** Where packages come from: the person's own indexes, or exactly these wheels. */
export type PackageSource = "index" | `wheels:${string}`;

/** A directory of wheels by what is in it, whatever it is called. */
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

/** Names the note of what a person installed for one skill, in the directory that it has, for one interpreter. */
export function toNoteName(
  skillDirectory: string,
  requirements: Uint8Array,
  { version, abi, platform }: PythonBuild,
): string {
  return createHash("sha256")
    .update(JSON.stringify(["note", skillDirectory, hash("sha256", requirements), version, abi, platform]))
    .digest("hex");
}
