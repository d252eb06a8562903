import { countCodePoints } from "../text/code-points.ts";

/** In characters (CONTRACT C-3.3). */
const maxPathLength = 512;

/**
 * Why a path cannot name a file of a skill, as the end of a sentence that starts with "The path"; undefined if it can (CONTRACT
 * C-3.3). Pure: existence and links are not checked. Never percent-decodes.
 */
export function skillPathFault(path: string, directory = "the skill's directory"): string | undefined {
  if (path === "") return "is empty";
  if (path.length > maxPathLength && countCodePoints(path) > maxPathLength) {
    return `has more than ${maxPathLength} characters`;
  }
  if (path.includes("\0")) return "contains a NUL character";
  if (path.includes("\\")) return "contains a backslash; separate its segments by /";
  if (path.startsWith("/")) return "is absolute; leave out the leading /";
  if (path.startsWith("~")) return `starts with ~; write it relative to ${directory}`;
  if (/^[A-Za-z]:/.test(path)) return `starts with a drive letter; write it relative to ${directory}`;
  for (const segment of path.split("/")) {
    if (segment === "") return "has an empty segment";
    if (segment === "." || segment === "..") return `has a segment ${segment}; write it relative to ${directory}`;
  }
  return undefined;
}

/** Whether a name is never served: a dot-file, or Python's cache. */
export function isHiddenName(name: string): boolean {
  return name.startsWith(".") || name.toLowerCase() === "__pycache__";
}
