import path from "node:path";
import { inDigits } from "../../../base/text/code-points.ts";
import { type SkillsError, isSkillsError } from "../../../base/errors.ts";
import type { Finding, RuleCode } from "../../rules.ts";
import type { DirectoryEntry } from "../../files.ts";
import type { Skill } from "../../skill.ts";

/** A finding about a file or directory as a whole. */
export function wholeFile(code: RuleCode, file: string, message: string, fix: string): Finding {
  return { code, file, line: 1, column: 1, message, fix };
}

/** The finding for an unreadable path. Rethrows errors that are not a {@link SkillsError}. */
export function unreadableFinding(target: string, error: unknown): Finding {
  if (!isSkillsError(error)) throw error;
  return wholeFile(
    "unreadable",
    target,
    error.message.replace(/\.$/, ""),
    "Make it readable for this user, or remove it.",
  );
}

/** The finding for a file at which acp-skills itself fails; all other skills are still read. */
export function failedAt(file: string, error: unknown): Finding {
  const message = `acp-skills fails to read it: ${String(error)}`;
  return wholeFile("unreadable", file, message, "Please report it, with the file.");
}

/** The finding for a skill with a name that rules out a digest. */
export function invalidFileName(file: string, error: SkillsError): Finding {
  const fix = "Rename it, in plain letters.";
  return wholeFile("file-name-invalid", file, error.message.replace(/\.$/, ""), fix);
}

export function danglingLink(link: string): Finding {
  const message = `symbolic link ${path.basename(link)} has no target`;
  return wholeFile("dangling-symlink", link, message, "Remove the link, or restore its target.");
}

export function directoryLoop(link: string, target: string): Finding {
  const message = `symbolic link ${path.basename(link)} to its parent directory ${target} is not followed`;
  return wholeFile("directory-loop", link, message, "Remove the link.");
}

/** The finding for a SKILL.md that is not a regular file. */
export function notAFile(file: string, kind: Exclude<DirectoryEntry["kind"], "file">): Finding {
  if (kind === "dangling") return danglingLink(file);
  const found = kind === "directory" ? "a directory" : "a FIFO, socket or device";
  const message = `${path.basename(file)} is ${found}`;
  return wholeFile("not-a-regular-file", file, message, "Replace it by a regular file.");
}

/** The finding for an explicit root that does not exist. */
export function missingRoot(directory: string): Finding {
  return wholeFile("unreadable", directory, `${directory} does not exist`, "Create it, or name another directory.");
}

export function unusedFile(file: string, used: string): Finding {
  const message = `${path.basename(file)} is ignored because ${used} is in the same directory`;
  return leavingOut(1, wholeFile("skill-file-unused", file, message, "Remove it, or give it a directory of its own."));
}

export function misnamedFile(file: string): Finding {
  const message = `${path.basename(file)} looks like a skill, but only SKILL.md is read`;
  return leavingOut(1, wholeFile("skill-file-misnamed", file, message, "Rename it to SKILL.md."));
}

export function manifestAlone(file: string): Finding {
  const message = "skill.toml without SKILL.md is not a skill";
  return leavingOut(1, wholeFile("manifest-alone", file, message, "Add a SKILL.md, or remove skill.toml."));
}

/** Adds the number of skills that a finding leaves out. */
export function leavingOut(count: number, finding: Finding): Finding {
  return { ...finding, leftOut: count };
}

export function tooManyDirectories({ owner, limit }: { owner: string; limit: number }): Finding {
  const message = `more than ${inDigits(limit)} directories without a skill below this one; the rest are not read`;
  const fix = "List them in a file .ignore, or move the skills elsewhere.";
  return wholeFile("too-many-directories", owner, message, fix);
}

export function notReadInTime(root: string, ms: number, skills: number): Finding {
  const message = `reading this directory takes longer than ${ms / 1000} s; ${inDigits(skills)} skills are read so far`;
  const fix = "List directories without skills in a file .ignore, or move them.";
  return wholeFile("not-read-in-time", root, message, fix);
}

export function shadowed(skill: Skill, winner: Skill): Finding {
  const message = `skill ${skill.slug} in ${winner.directory} takes precedence over this one`;
  return wholeFile("skill-shadowed", skill.file, message, "Rename one of the two, or remove one.");
}

export function qualified(skill: Skill, slug: string, keeper: Skill): Finding {
  const message = `offered as ${slug}, because ${keeper.file} has the name ${skill.slug} too`;
  return wholeFile("slug-qualified", skill.file, message, "Rename one of the two.");
}

export function copied(skill: Skill, original: Skill): Finding {
  const message = `identical copy of ${original.file}; both are skill ${original.slug}`;
  return wholeFile("skill-copy", skill.file, message, "No action needed; one of the two can be removed.");
}

export function slugCollision(skill: Skill, winner: Skill): Finding {
  const message = `slug ${skill.slug} is taken by ${winner.file}; this skill is not offered`;
  return wholeFile("slug-collision", skill.file, message, "Rename one of the two.");
}

export function versionCollision(skill: Skill, twin: Skill): Finding {
  const message = `version ${skill.version} of ${skill.slug} is ${twin.file} already; this one is not offered`;
  return wholeFile("slug-collision", skill.file, message, "Give one of the two another version.");
}
