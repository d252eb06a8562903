import path from "node:path";
import { manifestAlone, misnamedFile, unusedFile } from "./disk-findings.ts";
import type { Finding } from "../rules/rules.ts";
import type { DirectoryRecord } from "./read-directory.ts";
import { isSkillFileName } from "./skill-file-names.ts";
import { joinPath } from "../files/skill-files.ts";
import type { Entry, SkillFiles } from "../files/skill-files.ts";
import type { Root } from "./roots.ts";

/** The relevant files of a directory. */
interface Listed {
  readonly tellers: readonly Entry[];
  /** Files whose name resembles SKILL.md. */
  readonly near: readonly string[];
}

const headBytes = 4096;
const none: readonly never[] = Object.freeze([]);

/** Reports files that look like a skill but are not read; `chosen` is the file that is read as SKILL.md. */
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

/** Whether a file starts like a SKILL.md, unlike prose about skills. */
function hasSkillHead(files: SkillFiles, file: string): boolean {
  try {
    const { bytes } = files.head(file, headBytes);
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    return /^\ufeff?---[ \t]*\r?\n/.test(text) && /^(?:name|description)[ \t]*:/m.test(text);
  } catch {
    return false;
  }
}

/** A dangling link in a directory. */
export interface DanglingLink {
  readonly record: DirectoryRecord;
  readonly name: string;
  readonly isInRoot: boolean;
}

/**
 * Whether a dangling link is where a skill would be: in a root of skills, in a directory named `skills`, or next to a skill. Elsewhere,
 * as in a project that is checked as a whole, it is not reported.
 */
export function wouldBeSkill(
  { record, name, isInRoot }: DanglingLink,
  { holdsAnything = false }: Root,
  isSkill: (directory: string) => boolean,
): boolean {
  // Editors create links named .# while a file is open; and a name with a file extension is no directory.
  if (name.startsWith(".") || /\.[a-z]{1,4}$/i.test(name)) return false;
  if ((isInRoot && !holdsAnything) || path.basename(record.path) === "skills") return true;
  return record.children.some((child) => isSkill(child.target ?? joinPath(record.path, child.name)));
}
