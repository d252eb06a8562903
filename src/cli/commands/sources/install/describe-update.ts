import { unifiedDiff } from "../../../../base/unified-diff.ts";
import type { Update } from "../../../../install/compare-update.ts";
import { safeText } from "../../../report/safe-text.ts";
import type { Paint } from "../../../report/terminal.ts";

const mostFiles = 20;
const mostLines = 100;

/** What is new in capabilities first, then each file as a unified diff. */
export function* describeUpdate({ widened, added, removed, texts }: Update, paint: Paint): Iterable<string> {
  for (const words of widened) yield `  ${paint("yellow", "NEW:")} ${safeText(words)}\n`;
  for (const file of texts.slice(0, mostFiles)) {
    const path = safeText(file.path);
    const [isNew, isGone] = [added.includes(file.path), removed.includes(file.path)];
    yield `${paint("bold", `--- ${isNew ? "/dev/null" : path}\n+++ ${isGone ? "/dev/null" : path}`)}\n`;
    const [before, after] = [isNew ? "" : file.before, isGone ? "" : file.after];
    if (before === undefined || after === undefined) {
      yield "binary, or too large to show\n";
      continue;
    }
    for (const line of unifiedDiff(before, after, mostLines)) yield `${painted(line, paint)}\n`;
  }
  if (texts.length > mostFiles) yield `and ${texts.length - mostFiles} more files\n`;
}

function painted(line: string, paint: Paint): string {
  // A line of a file after its sign, so that no command to a CI system is at the start of the line.
  const safe = `${line.slice(0, 1)}${safeText(line.slice(1))}`;
  if (line.startsWith("+")) return paint("green", safe);
  if (line.startsWith("-")) return paint("red", safe);
  return line.startsWith("@@") ? paint("cyan", safe) : safe;
}
