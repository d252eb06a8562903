import { realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findCommand } from "../find/find-command.ts";
import { urlOf } from "../../base/url-of.ts";

/** Where the portable tier's two parts lie. */
export interface DenoParts {
  /** The program itself, not the script that npm puts before it. */
  readonly deno: string;
  /** The directory of the package `pyodide`. */
  readonly pyodide: string;
}

const platforms: Readonly<Record<string, string>> = {
  "linux x64": "linux-x64-glibc",
  "linux arm64": "linux-arm64-glibc",
  "darwin x64": "darwin-x64",
  "darwin arm64": "darwin-arm64",
  "win32 x64": "win32-x64",
  "win32 arm64": "win32-arm64",
};
const ownDirectory = fileURLToPath(new URL(".", urlOf(import.meta)));
const program = process.platform === "win32" ? "deno.exe" : "deno";

/**
 * Looks for `deno` and `pyodide` as npm lays them out, with or without install scripts: beside this package, then in each of
 * `directories`, whose contents are executed and must be trusted; for `deno` also on PATH. A string says what is missing.
 */
export function findDenoParts(directories: readonly string[] = [], own: string = ownDirectory): DenoParts | string {
  const from = [own, ...directories];
  const pyodide = first(from, (directory) => packageDirectory("pyodide", directory));
  const deno = first(from, denoOfPackage) ?? denoOnPath();
  const missing = [...(deno === undefined ? ["deno"] : []), ...(pyodide === undefined ? ["pyodide"] : [])];
  if (deno === undefined || pyodide === undefined) return `${missing.join(" and ")} cannot be found.`;
  return { deno, pyodide };
}

/** The package for this platform holds the program; `deno` itself only has a copy where install scripts may run. */
function denoOfPackage(directory: string): string | undefined {
  const main = packageDirectory("deno", directory);
  const platform = platforms[`${process.platform} ${process.arch}`];
  if (main === undefined || platform === undefined) return undefined;
  return first([packageDirectory(`@deno/${platform}`, main), main], (one) =>
    one === undefined ? undefined : existing(join(one, program)),
  );
}

function denoOnPath(): string | undefined {
  const found = findCommand(program);
  if (found === undefined) return undefined;
  const real = realpathSync(found);
  // Of a global installation by npm: a script, which would stay between us and the program.
  return basename(real) === "bin.cjs" ? denoOfPackage(dirname(real)) : real;
}

function packageDirectory(name: string, from: string): string | undefined {
  try {
    return dirname(realpathSync(createRequire(join(from, "package.json")).resolve(`${name}/package.json`)));
  } catch {
    return undefined; // Not installed there.
  }
}

function existing(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : undefined;
}

function first<From, To>(all: readonly From[], find: (one: From) => To | undefined): To | undefined {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
