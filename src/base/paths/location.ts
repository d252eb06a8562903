import { realpathSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { attempt } from "../failures/system-error.ts";

/** Whether a path is a directory or is inside it, by whole segments; both are absolute and normalised. */
export function isWithin(file: string, directory: string): boolean {
  return file === directory || file.startsWith(directory.endsWith(path.sep) ? directory : directory + path.sep);
}

/** A path and all directories above it, the nearest first. */
export function upwards(directory: string): readonly string[] {
  const above = path.dirname(directory);
  return above === directory ? [directory] : [directory, ...upwards(above)];
}

/** Whether a path is within a directory after resolving links; a missing path counts as the path at which it would be created. */
export function liesIn(file: string, directory: string): boolean {
  return isWithin(whereItLies(file), whereItLies(directory));
}

/** The real path; for a missing path, the path at which it would be created. */
export function whereItLies(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    const parent = path.dirname(file);
    return parent === file ? file : path.join(whereItLies(parent), path.basename(file));
  }
}

/** A path for display: relative inside `cwd`, otherwise absolute. */
export function shownPath(file: string, cwd: string): string {
  const relative = path.relative(cwd, file);
  if (relative === "") return ".";
  return relative === ".." || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative) ? file : relative;
}

/** A path for display: with `~` inside the home directory, otherwise absolute. */
export function homePath(file: string, home: string): string {
  const relative = shownPath(file, home);
  return relative === file ? file : relative === "." ? "~" : `~/${relative}`;
}

/** The path of a URL, each segment decoded once; undefined if a segment is not UTF-8, or has a slash. */
export function decodedPath(encoded: string): string | undefined {
  if (/[?#]/.test(encoded)) return undefined;
  const segments = encoded.split("/").map((segment) => attempt(() => decodeURIComponent(segment), "/"));
  return segments.some((segment) => segment.includes("/")) ? undefined : segments.join("/");
}

/**
 * The URL of a file of this package, by its path below `dist/` (`src/` when run from source). This module has the same path below both. In
 * another program's bundle, files are expected beside the bundle. A CommonJS bundle does not know its URL: the main program's is used.
 */
export function packageUrl(file: string, meta: { readonly url?: string | undefined } = import.meta): URL {
  const own = meta.url ?? pathToFileURL(process.argv[1] ?? "index.js").href;
  return new URL(file, new URL(ownPath.test(own) ? "../../" : "./", own));
}

const ownPath = /\/base\/paths\/location\.[jt]s$/;
