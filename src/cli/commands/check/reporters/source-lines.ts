import { isSkillsError } from "../../../../errors.ts";
import type { SkillFiles } from "../../../../skills/files/skill-files.ts";

/** Problems after this line have no code frame. */
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
    // A directory, or an unreadable file: reported as a problem, without lines.
    return noLines;
  }
}
