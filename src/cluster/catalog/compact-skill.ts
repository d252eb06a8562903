import path from "node:path";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Skill } from "../../skills/skill.ts";

/** What many skills have, such as versions, licenses and empty lists, by its JSON. */
const known = new LimitedMap<string, unknown>(1_000);
/** Fields that others do not share. */
const own: ReadonlySet<string> = new Set<keyof Skill>(["slug", "description", "directory", "file", "manifest"]);

/**
 * Makes a skill that takes less memory: values that others have, too, are shared, and no text is a part of a longer one, which would stay
 * in memory with it.
 */
export function toCompactSkill(skill: Skill): Skill {
  const slug = ownText(skill.slug);
  const description = ownText(skill.description);
  // Two parts of a text take less memory than the whole, until it is used: all directories begin with the same.
  const above = path.dirname(path.dirname(skill.directory));
  const directory = String(shared(above)) + ownText(skill.directory.slice(above.length));
  const file = directory + String(shared(skill.file.slice(skill.directory.length)));
  const compact: Record<string, unknown> = { ...skill, slug, description, directory, file };
  for (const [key, value] of Object.entries(skill))
    if (!own.has(key)) compact[key] = value === slug ? slug : shared(value);
  return Object.freeze(compact) as unknown as Skill;
}

function shared(value: unknown): unknown {
  const text = JSON.stringify(value);
  if (!known.has(text)) known.set(text, Object.freeze(JSON.parse(text)));
  return known.get(text);
}

/** A copy that shares nothing. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}
