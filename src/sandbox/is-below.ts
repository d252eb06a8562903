/** Whether a path is a directory or lies in it, by whole segments; both are absolute and normal. */
export function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}
