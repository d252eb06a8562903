import type { Entry } from "./skill-files.ts";

/** Whether a file of this name is taken for a skill's: SKILL.md, in whatever case. */
export function isSkillFileName(name: string): boolean {
  return name.length === 8 && (name === "SKILL.md" || name.toLowerCase() === "skill.md");
}

/** Names by which a SKILL.md may have been meant; `SKILLS.md` may be that, or prose about skills. */
export function isNearSkillFileName(name: string): boolean {
  return name.length <= 14 && /^skills?\.(?:md|mdx|markdown|txt|md\.txt)$/i.test(name) && !isSkillFileName(name);
}

/** The file that counts of those that are called so: SKILL.md before skill.md, and that before other spellings. */
export function chooseSkillFile(entries: readonly Entry[]): Entry | undefined {
  let best: Entry | undefined;
  for (const entry of entries) {
    if (isSkillFileName(entry.name) && (best === undefined || rank(entry) < rank(best))) best = entry;
  }
  return best;
}

/** A file before anything else; then by name, in which capitals come first: all of them, or none of them, before a mixture. */
function rank({ name, kind }: Entry): string {
  const spelling = name === "SKILL.md" ? "0" : name === "skill.md" ? "1" : `2${name}`;
  return (kind === "file" ? "0" : "1") + spelling;
}
