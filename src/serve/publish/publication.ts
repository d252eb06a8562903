import { byCodePoint } from "../../base/text/code-points.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import { matchesGlob } from "../../base/text/name-glob.ts";
import { type AccessPolicy, type CapabilityType, accessPolicies, capabilityTypes } from "../../wire/skill-sharing.ts";
import type { ServeConfig } from "../config.ts";

/** A skill as it is published: in the index of Skill Sharing, that of Agent Skills, and the marketplace. */
export interface PublishedSkill {
  readonly skill: Skill;
  /** `com.example.rows-clean-v1`; unique. */
  readonly id: string;
  readonly type: CapabilityType;
  readonly access: AccessPolicy;
}

/** What is published at one moment. Frozen; the same object as long as nothing changed. */
export interface Publication {
  /** Ordered by slug. */
  readonly skills: readonly PublishedSkill[];
  /** By slug. */
  readonly bySlug: ReadonlyMap<string, PublishedSkill>;
}

/** What a snapshot's skills are published as (CONTRACT C-6.1). Pure. */
export function toPublication(
  snapshot: Pick<Snapshot, "skills">,
  config: Pick<ServeConfig, "provider" | "access" | "capabilityTypes">,
): Publication {
  const skills = snapshot.skills
    .map(({ skill }) => toPublished(skill, config))
    .sort((one, other) => byCodePoint(one.skill.slug, other.skill.slug));
  return Object.freeze({ skills, bySlug: new Map(skills.map((published) => [published.skill.slug, published])) });
}

function toPublished(
  skill: Skill,
  { provider, access, capabilityTypes: types }: Pick<ServeConfig, "provider" | "access" | "capabilityTypes">,
): PublishedSkill {
  const { slug, version } = skill;
  const major = /^\d+/.exec(version)?.[0] ?? "0";
  return Object.freeze({
    skill,
    id: `${provider.domain}.${slug}-v${major}`,
    type: typeOf(skill, types),
    access: accessOf(skill, access),
  });
}

type Named = Pick<Skill, "name" | "slug" | "kind">;

/** Whether one of the patterns is for the skill, by its name or slug. */
export function isNamedIn(patterns: readonly string[], { name, slug }: Pick<Named, "name" | "slug">): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name) || matchesGlob(pattern, slug));
}

function typeOf(skill: Named, types: ServeConfig["capabilityTypes"]): CapabilityType {
  const configured = capabilityTypes.find((type) => isNamedIn(types[type] ?? [], skill));
  return configured ?? (skill.kind === "instruction" ? "knowledge" : "api");
}

/** From strict to permissive, so that of several patterns the strictest counts. */
const strictestFirst = [...accessPolicies].reverse();

function accessOf(skill: Named, access: ServeConfig["access"]): AccessPolicy {
  return strictestFirst.find((policy) => isNamedIn(access[policy], skill)) ?? access.default;
}
