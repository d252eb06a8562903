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
