import { safeText } from "./safe-text.ts";
import type { Paint } from "./terminal.ts";

/** One line of a unified diff for the terminal. */
export function paintDiffLine(line: string, paint: Paint): string {
  // A line of a file after its sign, so that no command to a CI system is at the start of the line.
  const safe = `${line.slice(0, 1)}${safeText(line.slice(1))}`;
  if (line.startsWith("+")) return paint("green", safe);
  if (line.startsWith("-")) return paint("red", safe);
  return line.startsWith("@@") ? paint("cyan", safe) : safe;
}
