import path from "node:path";

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
