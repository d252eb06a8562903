import type { Entry } from "../files/skill-files.ts";

/** Whether a name is SKILL.md, in any case. */
export function isSkillFileName(name: string): boolean {
  return name.length === 8 && (name === "SKILL.md" || name.toLowerCase() === "skill.md");
}

/** Whether a name resembles SKILL.md; `SKILLS.md` may also be prose about skills. */
export function isNearSkillFileName(name: string): boolean {
  return name.length <= 14 && /^skills?\.(?:md|mdx|markdown|txt|md\.txt)$/i.test(name) && !isSkillFileName(name);
}

/** The file to read if there are several: SKILL.md before skill.md before other spellings. */
export function chooseSkillFile(entries: readonly Entry[]): Entry | undefined {
  let best: Entry | undefined;
  for (const entry of entries) {
    if (isSkillFileName(entry.name) && (best === undefined || rank(entry) < rank(best))) best = entry;
  }
  return best;
}

/** Files first, then SKILL.md, skill.md, and other spellings. */
function rank({ name, kind }: Entry): string {
  const spelling = name === "SKILL.md" ? "0" : name === "skill.md" ? "1" : `2${name}`;
  return (kind === "file" ? "0" : "1") + spelling;
}
