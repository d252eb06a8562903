import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { attempt } from "../../../base/failures/system-error.ts";
import { packageUrl } from "../../../base/paths/location.ts";
import { sweepLeftovers, whereSandboxesReach } from "../directory/host-directory.ts";
import type { TierOptions } from "../drive/sandbox-life.ts";
import { findCommand, installRemedy } from "../find.ts";
import { testSandbox } from "../find/self-probe.ts";
import type { Explanation, Sandbox } from "../../sandbox.ts";
import { type DenoFiles, openPyodideSandbox } from "./pyodide-sandbox.ts";

/** Maximum number of prepared children: each takes about 190 MB. */
const maxWaiting = 1;

/** Opens the pyodide tier if it passes its self-test, or returns why it is not available. */
export async function openPyodideTier(options: TierOptions): Promise<Sandbox | Explanation> {
  const { pool, log } = options;
  const temporaryDirectory = whereSandboxesReach(options.temporaryDirectory);
  const files = findDenoFiles(options.peersFrom);
  if (typeof files === "string") return { reason: files, fix: [installRemedy(["deno", "pyodide"])] };
  await sweepLeftovers(log, temporaryDirectory);
  const sandbox = await openPyodideSandbox({
    ...options,
    files,
    temporaryDirectory,
    pool: { ...pool, size: Math.min(pool.size, maxWaiting) },
  });
  return testSandbox(sandbox, temporaryDirectory);
}

const platforms: Readonly<Record<string, string>> = {
  "linux x64": "linux-x64-glibc",
  "linux arm64": "linux-arm64-glibc",
  "darwin x64": "darwin-x64",
  "darwin arm64": "darwin-arm64",
  "win32 x64": "win32-x64",
  "win32 arm64": "win32-arm64",
};
const ownDirectory = fileURLToPath(packageUrl("."));
const program = process.platform === "win32" ? "deno.exe" : "deno";

/**
 * Finds the npm packages `deno` and `pyodide` next to this package or in `directories`, which must be trusted; `deno` also on PATH. They
 * may be installed with or without install scripts. Returns a string with the missing packages.
 */
export function findDenoFiles(directories: readonly string[] = [], own: string = ownDirectory): DenoFiles | string {
  const from = [own, ...directories];
  const isFound = (file: string | undefined): boolean => file !== undefined;
  const pyodide = from.map((directory) => packageDirectory("pyodide", directory)).find(isFound);
  const deno = from.map(denoOfPackage).find(isFound) ?? denoOnPath();
  const missing = [...(deno === undefined ? ["deno"] : []), ...(pyodide === undefined ? ["pyodide"] : [])];
  return deno === undefined || pyodide === undefined ? `${missing.join(" and ")} not found.` : { deno, pyodide };
}

/** The platform's package contains the executable; `deno` itself has a copy only if install scripts ran. */
function denoOfPackage(directory: string): string | undefined {
  const main = packageDirectory("deno", directory);
  const platform = platforms[`${process.platform} ${process.arch}`];
  if (main === undefined || platform === undefined) return undefined;
  const directories = [packageDirectory(`@deno/${platform}`, main), main].filter((one) => one !== undefined);
  const programs = directories.map((directory) => join(directory, program));
  return programs.find((file) => statSync(file, { throwIfNoEntry: false })?.isFile() === true);
}

function denoOnPath(): string | undefined {
  const found = findCommand(program);
  if (found === undefined) return undefined;
  const real = realpathSync(found);
  // In a global npm installation, it is a wrapper script.
  return basename(real) === "bin.cjs" ? denoOfPackage(dirname(real)) : real;
}

/** The directory of a package as found from a directory; undefined if it is not installed there. */
function packageDirectory(name: string, from: string): string | undefined {
  const find = (): string => createRequire(join(from, "package.json")).resolve(`${name}/package.json`);
  return attempt(() => dirname(realpathSync(find())), undefined);
}
