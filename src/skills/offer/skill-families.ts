import path from "node:path";
import { byCodePoint } from "../text/code-point-order.ts";
import type { FoundSkill } from "../scan/scan-memory.ts";
import type { RuleCode } from "../rules/rules.ts";
import { isVersion } from "../manifest/skill-version.ts";
import type { Skill } from "../skill.ts";

/** The versions of one skill: one directory, or the `<version>/` directories in it. */
export interface Family {
  readonly directory: string;
  /** One per version; never empty. */
  readonly members: readonly FoundSkill[];
  /** Skills with the same bytes elsewhere below the same root. */
  readonly copies: readonly FoundSkill[];
}

const malformedName: ReadonlySet<RuleCode> = new Set([
  "name-missing",
  "name-too-long",
  "name-not-lowercase",
  "name-invalid-characters",
  "name-hyphens",
  "name-not-ascii",
] satisfies RuleCode[]);

/** A skill with a duplicate version, and the first one with it. */
interface Refused {
  readonly found: FoundSkill;
  readonly skill: Skill;
  readonly twin: Skill;
}

/**
 * Groups skills of one slug and one root into different skills, in order of precedence: well-formed names, then the shallowest, then by
 * path (C-1.6). `refused` lists duplicate versions.
 */
export function toFamilies(found: readonly FoundSkill[]): { families: Family[]; refused: Refused[] } {
  const byDirectory = new Map<string, FoundSkill[]>();
  const refused: Refused[] = [];
  for (const one of found) {
    const directory = versionsDirectory(one);
    const members = byDirectory.get(directory);
    if (members === undefined) {
      byDirectory.set(directory, [one]);
      continue;
    }
    const twin = members.find(({ record }) => record.skill?.version === one.record.skill?.version)?.record.skill;
    if (twin === undefined) members.push(one);
    else if (one.record.skill !== undefined) refused.push({ found: one, skill: one.record.skill, twin });
  }
  const order = Array.from(byDirectory, ([directory, members]) => ({
    directory,
    members,
    rank: members.every(isMade) ? 1 : 0,
    depth: directory.split(path.sep).length,
  })).sort((a, b) => a.rank - b.rank || a.depth - b.depth || byCodePoint(a.directory, b.directory));
  const families: (Family & { readonly copies: FoundSkill[] })[] = [];
  const byContent = new Map<string, FoundSkill[]>();
  for (const { directory, members } of order) {
    const content = contentOf(members);
    const copies = content === undefined ? undefined : byContent.get(content);
    if (copies !== undefined) {
      copies.push(...members);
      continue;
    }
    const family = { directory, members, copies: [] };
    families.push(family);
    if (content !== undefined) byContent.set(content, family.copies);
  }
  return { families, refused };
}

/** Whether the slug was derived from a malformed name. */
function isMade({ record }: FoundSkill): boolean {
  return record.findings.some(({ code }) => malformedName.has(code));
}

/** Equal for copies; undefined where content was not compared. */
function contentOf(members: readonly FoundSkill[]): string | undefined {
  const parts = members.map(({ record, content }) => content && `${record.skill?.version ?? ""} ${content}`);
  return parts.includes(undefined) ? undefined : parts.sort().join("\n");
}

/** The directory with all versions of a skill: its own, or the parent of `<version>/`. */
function versionsDirectory({ record }: FoundSkill): string {
  return isVersion(path.basename(record.path)) ? path.dirname(record.path) : record.path;
}
