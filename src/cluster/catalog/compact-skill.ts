import path from "node:path";
import { LimitedMap } from "../../base/limited-map.ts";
import type { Skill } from "../../skills/skill.ts";

/** Values that many skills share, such as versions, licenses and empty lists, by their JSON. */
const known = new LimitedMap<string, unknown>(1_000);
/** Fields whose values skills do not share. */
const own: ReadonlySet<string> = new Set<keyof Skill>(["slug", "description", "directory", "file", "manifest"]);

/**
 * Copies a skill so that it takes less memory. Skills share equal values, and no text is a slice of a longer one, which would stay in
 * memory with it.
 */
export function toCompactSkill(skill: Skill): Skill {
  const slug = ownText(skill.slug);
  const description = ownText(skill.description);
  // All directories begin alike, so that two joined texts take less memory than one, until the text is used.
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

/** Returns a copy that shares no memory with the text. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}
