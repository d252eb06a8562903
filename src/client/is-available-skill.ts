import type { AvailableSkill } from "../wire/available-skill.ts";
import { metaKey } from "../wire/methods.ts";
import { fieldsOf, isStrings } from "./json.ts";

/**
 * Whether a value satisfies the schema of AvailableSkill. Written by hand, so that editors need no schema library; a test compares it
 * with `availableSkillSchema`.
 */
export function isAvailableSkill(value: unknown): value is AvailableSkill {
  const { name, description, license, compatibility, allowedTools, _meta } = fieldsOf(value) ?? {};
  return (
    typeof name === "string" &&
    name.length <= 64 &&
    /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) &&
    typeof description === "string" &&
    description.trim() !== "" &&
    hasAtMost(1024, description) &&
    (license === undefined || typeof license === "string") &&
    (compatibility === undefined || (typeof compatibility === "string" && hasAtMost(500, compatibility))) &&
    (allowedTools === undefined || isStrings(allowedTools)) &&
    (_meta === undefined || _meta === null || isMeta(fieldsOf(_meta)))
  );
}

function isMeta(meta: ReturnType<typeof fieldsOf>): boolean {
  if (meta?.[metaKey] === undefined) return meta !== undefined;
  const ours = fieldsOf(meta[metaKey]);
  return (
    ours !== undefined &&
    [ours["name"], ours["version"], ours["namespace"], ours["source"]].every((text) => typeof text === "string") &&
    (ours["kind"] === "instruction" || ours["kind"] === "action") &&
    (ours["digest"] === undefined || typeof ours["digest"] === "string")
  );
}

/** Counts code points. */
function hasAtMost(limit: number, text: string): boolean {
  return text.length <= limit || Array.from(text).length <= limit;
}
