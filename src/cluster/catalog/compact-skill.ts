import { LimitedMap } from "../../base/limited-map.ts";
import type { Skill } from "../../skills/skill.ts";

/** Texts that many skills have, such as versions and licenses. */
const texts = new LimitedMap<string, string>(10_000);
const lists = new LimitedMap<string, readonly string[]>(10_000);
const records = new LimitedMap<string, Skill["metadata"]>(10_000);

/**
 * Makes a skill that takes less memory: equal texts and lists of skills are shared, and no text is a part of a longer one, which would stay in
 * memory with it.
 */
export function toCompactSkill(skill: Skill): Skill {
  const { description, directory, file, ...rest } = skill;
  const { name, slug, version, kind, namespace, tags, metadata, dialect, ...optional } = rest;
  const own = ownText(slug);
  const or = (text: string): string => (text === slug ? own : shared(text));
  const compact: Skill = {
    name: or(name),
    slug: own,
    version: shared(version),
    kind,
    namespace: or(namespace),
    description: ownText(description),
    tags: intern(lists, tags),
    metadata: intern(records, metadata),
    dialect,
    directory,
    file,
  };
  return Object.freeze(Object.keys(optional).length === 0 ? compact : Object.assign(compact, optional));
}

function shared(text: string): string {
  return intern(texts, text, ownText);
}

function intern<Value>(known: Map<string, Value>, value: Value, copy: (value: Value) => Value = copied): Value {
  const key = typeof value === "string" ? value : JSON.stringify(value);
  const before = known.get(key);
  if (before !== undefined) return before;
  const own = copy(value);
  known.set(ownText(key), own);
  return own;
}

function copied<Value>(value: Value): Value {
  return Object.freeze(JSON.parse(JSON.stringify(value)) as Value);
}

/** A copy that shares nothing. */
function ownText(text: string): string {
  return Buffer.from(text).toString();
}
