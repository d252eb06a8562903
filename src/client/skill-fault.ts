import type { AvailableSkill } from "../wire/available-skill.ts";
import { metaKey } from "../wire/methods.ts";
import { type JsonObject, fieldsOf, isStrings } from "./json.ts";

/** A JSON pointer into the skill, and what is wrong there. */
export type SkillFault = readonly [pointer: string, message: string];

/**
 * The fault of a value under the schema of AvailableSkill; undefined if it has none. Written by hand, so that editors need no schema
 * library; a test compares it with `availableSkillSchema`.
 */
export function skillFault(value: unknown): SkillFault | undefined {
  const skill = fieldsOf(value);
  if (skill === undefined) return ["", "is not an object"];
  const { name, description, license, compatibility, allowedTools, _meta } = skill;
  if (typeof name !== "string" || name.length > 64 || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
    return ["/name", "is not a slug of 1 to 64 characters"];
  if (typeof description !== "string" || description.trim() === "" || !hasAtMost(1024, description))
    return ["/description", "is not text of 1 to 1,024 characters"];
  if (!isText(license)) return ["/license", "is not text"];
  if (!isText(compatibility) || !hasAtMost(500, compatibility ?? ""))
    return ["/compatibility", "is not text of at most 500 characters"];
  if (allowedTools !== undefined && !isStrings(allowedTools)) return ["/allowedTools", "is not a list of texts"];
  if (_meta === undefined || _meta === null) return undefined;
  const meta = fieldsOf(_meta);
  if (meta === undefined) return ["/_meta", "is not an object"];
  return meta[metaKey] === undefined || isOurs(fieldsOf(meta[metaKey]))
    ? undefined
    : [`/_meta/${metaKey}`, "is not valid"];
}

export function isAvailableSkill(value: unknown): value is AvailableSkill {
  return skillFault(value) === undefined;
}

const states: ReadonlySet<unknown> = /* @__PURE__ */ new Set([undefined, "needs-approval", "blocked", "denied"]);

function isOurs(ours: JsonObject | undefined): boolean {
  if (ours === undefined) return false;
  const { name, version, namespace, source, kind, digest, environment, state } = ours;
  return (
    isStrings([name, version, namespace, source]) &&
    (kind === "instruction" || kind === "action") &&
    isText(digest) &&
    (environment === undefined || isEnvironment(fieldsOf(environment))) &&
    states.has(state)
  );
}

function isEnvironment(environment: JsonObject | undefined): boolean {
  const { status, missing } = environment ?? {};
  const isStatus = status === "met" || status === "missing" || status === "unknown";
  return isStatus && (missing === undefined || isStrings(missing));
}

function isText(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}

/** Whether a text has at most `limit` code points. */
function hasAtMost(limit: number, text: string): boolean {
  return text.length <= limit || Array.from(text).length <= limit;
}
