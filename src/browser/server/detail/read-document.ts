import { hash } from "node:crypto";
import type { SkillFiles } from "../../../skills/files.ts";
import { findFrontmatter, isYaml } from "../../../skills/manifest.ts";
import { readSkillDocument } from "../../../skills/document.ts";
import { endOfText } from "../../../base/text/whole-characters.ts";

/** A SKILL.md as it is written: nothing is removed from its text, so that what hides in it can be shown. */
export interface ShownDocument {
  readonly markdown: string;
  readonly isWhole: boolean;
  /** The SHA-256 of all its bytes; absent for a longer file. */
  readonly sha256?: string;
  /** Empty if it cannot be read. */
  readonly frontmatter: Readonly<Record<string, unknown>>;
}

const shownBytes = 1024 * 1024;
/** The longest frontmatter that is read, and its fences. */
const frontmatterBytes = 256 * 1024 + 64;

/** Throws UNREADABLE. */
export function readDocument(files: Pick<SkillFiles, "head">, file: string): ShownDocument {
  const { bytes: shared, whole } = files.head(file, shownBytes + frontmatterBytes);
  const bytes = Buffer.from(shared);
  const found = findFrontmatter(bytes, true);
  const hasFrontmatter = found.kind === "found" && isYaml(found.language);
  const body = hasFrontmatter ? bytes.subarray(found.bodyStart) : bytes;
  const isWhole = whole && body.length <= shownBytes;
  const shown = body.subarray(0, shownBytes);
  return {
    markdown: (isWhole ? shown : shown.subarray(0, endOfText(shown))).toString("utf8").replace(/^\ufeff/, ""),
    isWhole,
    ...(whole && { sha256: hash("sha256", bytes, "hex") }),
    frontmatter: hasFrontmatter ? frontmatterOf(bytes.subarray(0, found.bodyStart)) : {},
  };
}

function frontmatterOf(head: Buffer): Readonly<Record<string, unknown>> {
  try {
    return readSkillDocument(head.toString("utf8")).frontmatter;
  } catch {
    return {}; // The problems of the skill say what is wrong with it.
  }
}
