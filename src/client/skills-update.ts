import type { AvailableSkill } from "../wire/available-skill.ts";
import { fromCommandFacts } from "../wire/command-facts.ts";
import { availableCommandsUpdate, availableSkillsUpdate, extensionSkillsUpdate, metaKey } from "../wire/methods.ts";
import { type Fields, fieldsOf, isStrings } from "./json.ts";

/** The whole list of skills of one session at one moment; it replaces the one before. */
export interface SkillsUpdate {
  readonly sessionId: string;
  readonly skills: readonly AvailableSkill[];
}

/** What changed in a session's skills since the update of the revision before; for clients that asked for deltas. */
export interface SkillsDelta {
  readonly sessionId: string;
  readonly revision: number;
  readonly added: readonly AvailableSkill[];
  readonly changed: readonly AvailableSkill[];
  /** Names. */
  readonly removed: readonly string[];
}

/**
 * Reads the skills from the params of a `session/update` or `_acp-skills/skills_update`, in any of their forms: the RFD's update, its
 * `_`-prefixed twin, or a command list (ACP.md A-6). Undefined if they contain no whole list. Invalid skills are dropped.
 */
export function readSkillsUpdate(params: unknown): SkillsUpdate | undefined {
  const found = readParams(params);
  const list = found && listIn(found);
  return found && list && { sessionId: found.sessionId, skills: list.filter(isAvailableSkill) };
}

/** Reads a change from the same params; undefined if they contain none. */
export function readSkillsDelta(params: unknown): SkillsDelta | undefined {
  const found = readParams(params);
  if (found === undefined || !isSkillsKind(found.kind)) return undefined;
  const { revision, added, changed, removed } = found.update;
  if (typeof revision !== "number" || !Array.isArray(added) || !Array.isArray(changed) || !isStrings(removed))
    return undefined;
  const { sessionId } = found;
  return {
    sessionId,
    revision,
    added: added.filter(isAvailableSkill),
    changed: changed.filter(isAvailableSkill),
    removed,
  };
}

interface Params {
  readonly sessionId: string;
  readonly kind: string;
  readonly update: Fields;
  readonly meta: Fields | undefined;
}

function readParams(params: unknown): Params | undefined {
  const { sessionId, update: given, _meta } = fieldsOf(params) ?? {};
  const update = fieldsOf(given);
  const kind = update?.["sessionUpdate"];
  return typeof sessionId === "string" && update !== undefined && typeof kind === "string"
    ? { sessionId, kind, update, meta: fieldsOf(_meta) }
    : undefined;
}

function isSkillsKind(kind: string): boolean {
  return kind === availableSkillsUpdate || kind === extensionSkillsUpdate;
}

function listIn({ kind, update, meta }: Params): readonly unknown[] | undefined {
  if (isSkillsKind(kind)) return arrayIn(update["availableSkills"]);
  const isMarked = typeof fieldsOf(meta?.[metaKey])?.["skills"] === "number";
  return kind === availableCommandsUpdate && isMarked
    ? arrayIn(update["availableCommands"])?.flatMap(toSkill)
    : undefined;
}

function arrayIn(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

function toSkill(command: unknown): readonly unknown[] {
  const { name, description, _meta } = fieldsOf(command) ?? {};
  const facts = fieldsOf(fieldsOf(_meta)?.[metaKey]);
  return typeof name === "string" && typeof description === "string" && typeof facts?.["source"] === "string"
    ? [fromCommandFacts({ name, description }, facts)]
    : [];
}

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
    (ours["digest"] === undefined || typeof ours["digest"] === "string") &&
    (ours["environment"] === undefined || isEnvironment(fieldsOf(ours["environment"]))) &&
    (ours["state"] === undefined || states.has(ours["state"]))
  );
}

const states: ReadonlySet<unknown> = new Set(["needs-approval", "blocked", "denied"]);

function isEnvironment(environment: ReturnType<typeof fieldsOf>): boolean {
  const { status, missing } = environment ?? {};
  const isStatus = status === "met" || status === "missing" || status === "unknown";
  return isStatus && (missing === undefined || isStrings(missing));
}

/** Counts code points. */
function hasAtMost(limit: number, text: string): boolean {
  return text.length <= limit || Array.from(text).length <= limit;
}
