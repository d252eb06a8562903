import { isSkillsError } from "../../errors.ts";
import type { SkillFiles } from "../../skills/files/skill-files.ts";

/** Code frames look at frontmatter and at the first faults of a body; what lies further on has no frame. */
const frameBytes = 1024 * 1024;

/** Reads lines of files for code frames. Remembers the last file only. */
export function openSourceLines(files: SkillFiles): (file: string, line: number) => string | undefined {
  let remembered = { file: "", lines: noLines };
  return (file, line) => {
    if (remembered.file !== file) remembered = { file, lines: readLines(files, file) };
    return remembered.lines[line - 1];
  };
}

const noLines: readonly string[] = [];

function readLines(files: SkillFiles, file: string): readonly string[] {
  try {
    const { bytes } = files.head(file, frameBytes);
    return new TextDecoder("utf-8", { ignoreBOM: false }).decode(bytes).split(/\r\n|\n|\r/);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    // A directory, or a file that cannot be read: that is the problem being shown, and it has no lines.
    return noLines;
  }
}
