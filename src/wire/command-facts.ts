import type { OfferedSkill } from "../skills/skill.ts";
import type { AvailableSkill } from "./available-skill.ts";
import { metaKey } from "./methods.ts";

/** Converts an offered skill to its wire form, with its digest if known. Equal skills give equal JSON. */
export function toAvailableSkill({ skill, sources }: OfferedSkill, digest?: string): AvailableSkill {
  const { license, compatibility, allowedTools } = skill;
  const available: AvailableSkill = { name: skill.slug, description: skill.description };
  if (license !== undefined) available.license = license;
  if (compatibility !== undefined) available.compatibility = compatibility;
  if (allowedTools !== undefined) available.allowedTools = [...allowedTools];
  const ours: NonNullable<NonNullable<AvailableSkill["_meta"]>[typeof metaKey]> = {
    name: skill.name,
    version: skill.version,
    kind: skill.kind,
    namespace: skill.namespace,
    source: sources[0] ?? skill.directory,
  };
  if (digest !== undefined) ours.digest = digest;
  available._meta = { ...skill.metadata, [metaKey]: ours };
  return available;
}

const projected = new WeakMap<OfferedSkill, AvailableSkill>();

/** The wire form of an offered skill, cached: a catalog keeps the objects of unchanged skills. */
export function projectSkill(offered: OfferedSkill): AvailableSkill {
  const known = projected.get(offered);
  if (known !== undefined) return known;
  const skill = toAvailableSkill(offered);
  projected.set(offered, skill);
  return skill;
}

/** Whether two lists are the same on the wire. */
export function isSameList(before: readonly object[], after: readonly object[]): boolean {
  return (
    before.length === after.length &&
    before.every((item, index) => item === after[index] || JSON.stringify(item) === JSON.stringify(after[index]))
  );
}

/**
 * A command's `_meta["acp-skills"]`: the facts about its skill that the command itself does not contain (ACP.md A-6). It omits the
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
  readonly metadata?: Readonly<Record<string, unknown>>;
}

const usualVersion = "0.0.0";

export function toCommandFacts(
  skill: AvailableSkill,
  command: { readonly name: unknown; readonly description: unknown },
): CommandFacts {
  const { name: slug, description, license, compatibility, allowedTools, _meta } = skill;
  const { [metaKey]: ours, ...metadata } = _meta ?? {};
  const { name = slug, version = usualVersion, kind = "instruction", namespace, source = "" } = ours ?? {};
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
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** The skill that a command describes; not validated against its schema. */
export function fromCommandFacts(
  command: { readonly name: unknown; readonly description: unknown },
  facts: Partial<CommandFacts>,
): unknown {
  const slug = facts.slug ?? command.name;
  const name = facts.name ?? slug;
  const { license, compatibility, allowedTools, metadata, kind = "instruction", source } = facts;
  return {
    name: slug,
    description: facts.description ?? command.description,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(allowedTools !== undefined && { allowedTools }),
    _meta: {
      ...metadata,
      [metaKey]: {
        name,
        version: facts.version ?? usualVersion,
        kind,
        namespace: facts.namespace ?? firstSegment(String(name)),
        source,
      },
    },
  };
}

function firstSegment(name: string): string {
  return name.split(".", 1)[0] ?? name;
}
