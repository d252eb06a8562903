import { unifiedDiff } from "../../base/text/unified-diff.ts";
import { safeText } from "./safe-text.ts";
import type { Paint } from "./terminal.ts";

/** The text of a file before and after a change: null if there is no file, undefined if its text is not shown. */
export interface FileDiff {
  readonly name: string;
  readonly before: string | null | undefined;
  readonly after: string | null | undefined;
  readonly maxLines: number;
}

/** A unified diff with its two headings. */
export function* fileDiff({ name, before, after, maxLines }: FileDiff, paint: Paint): Iterable<string> {
  const shown = (text: string | null | undefined): string => (text === null ? "/dev/null" : safeText(name));
  yield `${paint("bold", `--- ${shown(before)}\n+++ ${shown(after)}`)}\n`;
  if (before === undefined || after === undefined) yield "binary, or too large to show\n";
  else
    for (const line of unifiedDiff(before ?? "", after ?? "", maxLines)) {
      // The text after the sign is escaped as a line of its own, so that a CI system finds no command in it.
      const safe = `${line.slice(0, 1)}${safeText(line.slice(1))}\n`;
      const colour = ({ "+": "green", "-": "red", "@": "cyan" } as const)[line.slice(0, 1)];
      yield colour === undefined ? safe : paint(colour, safe);
    }
}
