import { unifiedDiff } from "../../../../base/text/unified-diff.ts";
import { paintDiffLine } from "../../../report/paint-diff-line.ts";
import type { UpdateDiff } from "../../../../sources/update.ts";
import { safeText } from "../../../report/safe-text.ts";
import type { Paint } from "../../../report/terminal.ts";

const mostFiles = 20;
const mostLines = 100;

/** What is new in capabilities first, then each file as a unified diff. */
export function* describeUpdate({ widened, added, removed, texts }: UpdateDiff, paint: Paint): Iterable<string> {
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
    for (const line of unifiedDiff(before, after, mostLines)) yield `${paintDiffLine(line, paint)}\n`;
  }
  if (texts.length > mostFiles) yield `and ${texts.length - mostFiles} more files\n`;
}
