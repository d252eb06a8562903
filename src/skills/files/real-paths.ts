import path from "node:path";

/** Faster than `path.join`, for a name that needs no normalising. */
export function joinPath(directory: string, name: string): string {
  return directory.endsWith(path.sep) ? directory + name : directory + path.sep + name;
}
