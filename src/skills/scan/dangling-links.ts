import path from "node:path";
import type { DirectoryRecord } from "../files/read-directory.ts";
import { joinPath } from "../files/real-paths.ts";
import type { Root } from "./roots.ts";

/** A link in a directory that leads nowhere. */
export interface DanglingLink {
  readonly record: DirectoryRecord;
  readonly name: string;
  readonly isInRoot: boolean;
}

/**
 * Whether a link that leads nowhere lies where a skill would: in a root of skills, in a directory called so, or beside a skill.
 * Elsewhere, as among the links of a project that is checked as a whole, it is no business of ours.
 */
export function wouldBeSkill(
  { record, name, isInRoot }: DanglingLink,
  { holdsAnything = false }: Root,
  isSkill: (directory: string) => boolean,
): boolean {
  // Editors leave links named .# while a file is open; and what ends like a file is no directory.
  if (name.startsWith(".") || /\.[a-z]{1,4}$/i.test(name)) return false;
  if ((isInRoot && !holdsAnything) || path.basename(record.path) === "skills") return true;
  return record.children.some((child) => isSkill(child.target ?? joinPath(record.path, child.name)));
}
