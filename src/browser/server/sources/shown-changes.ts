import { unifiedDiff } from "../../../base/text/unified-diff.ts";
import { type UpdateDiff, latestWords } from "../../../sources/update.ts";
import { type Downloaded, wantedWords } from "../../../sources/install.ts";
import type { PlannedChange, PlannedFile } from "../../wire/sources.ts";

/** The changes of one plan as the page shows them: their texts together are limited. */
export interface ShownChanges {
  readonly toChange: (
    downloaded: Downloaded,
    update: UpdateDiff,
  ) => Pick<PlannedChange, "description" | "to" | "widened" | "wants" | "problems" | "files" | "moreFiles">;
}

const mostFiles = 50;
/** The lines shown of one file. */
const mostLines = 400;
/** The characters of all diffs of a plan. */
const mostCharacters = 1024 * 1024;
const mostWords = 100;

export function createShownChanges(): ShownChanges {
  let left = mostCharacters;

  function toFile({ path, before, after }: UpdateDiff["texts"][number], { added, removed }: UpdateDiff): PlannedFile {
    const change = added.includes(path) ? "added" : removed.includes(path) ? "removed" : "changed";
    const [old, now] = [change === "added" ? "" : before, change === "removed" ? "" : after];
    if (old === undefined || now === undefined || left <= 0) return { path, change };
    const diff = unifiedDiff(old, now, mostLines).join("\n");
    left -= diff.length;
    return { path, change, ...(left >= 0 && { diff }) };
  }

  return {
    toChange(downloaded, update) {
      const { inspected } = downloaded;
      const files = update.texts.slice(0, mostFiles).map((file) => toFile(file, update));
      return {
        description: inspected.description,
        to: latestWords(downloaded),
        widened: update.widened.slice(0, mostWords),
        wants: wantedWords(inspected).slice(0, mostWords),
        problems: inspected.problems.slice(0, mostWords).map(({ severity, file, line, message, fix }) => ({
          severity,
          words: `${file}:${line}: ${message}. ${fix}`,
        })),
        files,
        moreFiles: update.texts.length - files.length,
      };
    },
  };
}
