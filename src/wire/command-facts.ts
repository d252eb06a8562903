import type { OfferedSkill } from "../skills/skill.ts";
import type { AvailableSkill } from "./available-skill.ts";
import { metaKey } from "./methods.ts";
import type { Summary } from "../skills/environment.ts";

/** The facts about a skill on this machine that the skill itself does not contain. */
export interface KnownFacts {
  /** One object, replaced only if the environment changes. */
  readonly environment?: Summary | undefined;
  /** Why the skill cannot be used now; absent if it can. */
  readonly state?: NonNullable<SkillFacts>["state"] | undefined;
}

/** The maximum number of missing things that are named: an editor shows a warning, not a list. */
const maxMissing = 8;

/** Converts an offered skill to its wire form. Equal skills give equal JSON. */
export function toAvailableSkill(
  { skill, sources, remote }: OfferedSkill,
  { digest, environment, state }: KnownFacts & { readonly digest?: string | undefined } = {},
): AvailableSkill {
  const { license, compatibility, allowedTools } = skill;
  const available: AvailableSkill = { name: skill.slug, description: skill.description };
  if (license !== undefined) available.license = license;
  if (compatibility !== undefined) available.compatibility = compatibility;
  if (allowedTools !== undefined) available.allowedTools = [...allowedTools];
  const ours: NonNullable<SkillFacts> = {
    name: skill.name,
    version: skill.version,
    kind: skill.kind,
    namespace: skill.namespace,
    source: remote?.label ?? sources[0] ?? skill.directory,
  };
  if (skill.userInvocable === false) ours.userInvocable = false;
  if (digest !== undefined) ours.digest = digest;
  if (environment !== undefined) {
    const { status, missing } = environment;
    ours.environment = missing.length === 0 ? { status } : { status, missing: missing.slice(0, maxMissing) };
  }
  if (state !== undefined) ours.state = state;
  available._meta = { ...skill.metadata, [metaKey]: ours };
  return available;
}

interface Projected {
  readonly skill: AvailableSkill;
  readonly known: KnownFacts;
}

export function isSameFacts(a: KnownFacts, b: KnownFacts): boolean {
  return a.environment === b.environment && a.state === b.state;
}

export const nothingKnown: KnownFacts = /* @__PURE__ */ Object.freeze({});

const projected = new WeakMap<OfferedSkill, Projected>();

/** The wire form of an offered skill, cached: a catalog retains the objects of unchanged skills. */
export function projectSkill(offered: OfferedSkill, known = nothingKnown): AvailableSkill {
  const before = projected.get(offered);
  if (before !== undefined && isSameFacts(before.known, known)) return before.skill;
  const skill = toAvailableSkill(offered, known);
  projected.set(offered, { skill, known });
  return skill;
}

/**
 * A command's `_meta["acp-skills"]`: the facts about its skill that the command itself does not contain. It omits the
 * canonical name if it is the slug, the namespace if it is the name's first segment, version 0.0.0 and kind "instruction".
 */
interface CommandFacts {
  /** Only if the command has another name, such as `$pdf`. */
  readonly slug?: string;
  /** Only if the command has another description. */
  readonly description?: string;
  readonly name?: string;
  readonly version?: string;
  readonly kind?: "instruction" | "action";
  readonly namespace?: string;
  readonly source: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly allowedTools?: readonly string[];
  readonly environment?: NonNullable<SkillFacts>["environment"];
  readonly state?: NonNullable<SkillFacts>["state"];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

type SkillFacts = NonNullable<AvailableSkill["_meta"]>[typeof metaKey];

const usualVersion = "0.0.0";

export function toCommandFacts(
  skill: AvailableSkill,
  command: { readonly name: unknown; readonly description: unknown },
): CommandFacts {
  const { name: slug, description, license, compatibility, allowedTools, _meta } = skill;
  const { [metaKey]: ours, ...metadata } = _meta ?? {};
  const { name = slug, version = usualVersion, kind = "instruction", namespace, source = "" } = ours ?? {};
  const { environment, state } = ours ?? {};
  return {
    ...(command.name !== slug && { slug }),
    ...(command.description !== description && { description }),
    ...(name !== slug && { name }),
    ...(version !== usualVersion && { version }),
    ...(kind !== "instruction" && { kind }),
    ...(namespace !== undefined && namespace !== firstSegment(name) && { namespace }),
    source,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(allowedTools !== undefined && { allowedTools }),
    ...(environment !== undefined && { environment }),
    ...(state !== undefined && { state }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** The skill that a command describes; not validated against its schema. Absent facts are undefined. */
export function fromCommandFacts(
  command: { readonly name: unknown; readonly description: unknown },
  facts: Partial<CommandFacts>,
): unknown {
  const slug = facts.slug ?? command.name;
  const name = facts.name ?? slug;
  const { license, compatibility, allowedTools, metadata, kind = "instruction", source, environment, state } = facts;
  return {
    name: slug,
    description: facts.description ?? command.description,
    license,
    compatibility,
    allowedTools,
    _meta: {
      ...metadata,
      [metaKey]: {
        name,
        version: facts.version ?? usualVersion,
        kind,
        namespace: facts.namespace ?? firstSegment(String(name)),
        source,
        environment,
        state,
      },
    },
  };
}

function firstSegment(name: string): string {
  return name.split(".", 1)[0] ?? name;
}
