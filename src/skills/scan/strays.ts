import { manifestAlone, misnamedFile, unusedFile } from "./disk-findings.ts";
import { joinPath } from "../files/real-paths.ts";
import type { Finding } from "../rules/rules.ts";
import { isSkillFileName } from "../files/skill-file-names.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";

/** What a directory holds of its skill, and what looks like it. */
interface Listed {
  readonly tellers: readonly Entry[];
  /** Files whose name is nearly that of a skill's. */
  readonly near: readonly string[];
}

const headBytes = 4096;
const none: readonly never[] = Object.freeze([]);

/** What a person may take for a skill, and is none; `chosen` is the file that is read as its SKILL.md. */
export function findStrays(
  files: SkillFiles,
  directory: string,
  { tellers, near }: Listed,
  chosen: Entry | undefined,
): readonly Finding[] {
  if (tellers.length <= 1 && near.length === 0 && tellers[0] === chosen) return none;
  if (chosen === undefined) {
    const manifest = tellers.find(({ name, kind }) => name === "skill.toml" && kind === "file");
    return [
      ...(manifest === undefined ? [] : [manifestAlone(joinPath(directory, manifest.name))]),
      ...near
        .map((name) => joinPath(directory, name))
        .filter((file) => hasSkillHead(files, file))
        .map(misnamedFile),
    ];
  }
  return tellers
    .filter((entry) => entry !== chosen && entry.kind === "file" && isSkillFileName(entry.name))
    .map(({ name }) => unusedFile(joinPath(directory, name), chosen.name));
}

/** Whether a file starts as a skill's does; prose about skills does not. */
function hasSkillHead(files: SkillFiles, file: string): boolean {
  try {
    const { bytes } = files.head(file, headBytes);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    return /^\ufeff?---[ \t]*\r?\n/.test(text) && /^(?:name|description)[ \t]*:/m.test(text);
  } catch {
    return false;
  }
}
