import type { App } from "../../runtime/app.ts";
import { visibleTo } from "../../runtime/caller.ts";
import type { Policy } from "../../runtime/trust.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
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

/** The published skills at one moment. Frozen; the same object as long as nothing changed. */
export interface Publication {
  /** Ordered by slug. */
  readonly skills: readonly PublishedSkill[];
  /** By slug. */
  readonly bySlug: ReadonlyMap<string, PublishedSkill>;
}

/** Whether one of the patterns is for the skill, by its name or slug. */
export function isNamedIn(patterns: readonly string[], { name, slug }: Pick<Skill, "name" | "slug">): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name) || matchesGlob(pattern, slug));
}

/** From strict to permissive, so that of several patterns the strictest counts. */
const strictestFirst = [...accessPolicies].reverse();

function toPublished(
  skill: Skill,
  { provider, access, capabilityTypes: types }: Pick<ServeConfig, "provider" | "access" | "capabilityTypes">,
): PublishedSkill {
  const major = /^\d+/.exec(skill.version)?.[0] ?? "0";
  const type = capabilityTypes.find((one) => isNamedIn(types[one] ?? [], skill));
  const policy = strictestFirst.find((one) => isNamedIn(access[one], skill));
  return Object.freeze({
    skill,
    id: `${provider.domain}.${skill.slug}-v${major}`,
    type: type ?? (skill.kind === "instruction" ? "knowledge" : "api"),
    access: policy ?? access.default,
  });
}

/** Checking for changed policies reads the disk, which a request must not wait for; runs are authorized by the policy of that moment. */
const policyEveryMs = 100;

/** The present publication: all skills except those that a policy denies. The same object until that changes. */
export function createPublications(
  { policyFor, clock }: Pick<App, "policyFor" | "clock">,
  { catalog }: Pick<SessionSkills, "catalog">,
  config: ServeConfig,
): () => Publication {
  let of: { readonly snapshot: Snapshot; readonly policy: Policy } | undefined;
  let publication: Publication | undefined;
  let policy = policyFor(undefined);
  let checkedAt = clock.now();
  return () => {
    const { snapshot } = catalog;
    if (clock.now() - checkedAt > policyEveryMs) {
      policy = policyFor(undefined);
      checkedAt = clock.now();
    }
    if (publication !== undefined && of?.snapshot === snapshot && of.policy === policy) return publication;
    of = { snapshot, policy };
    const isVisible = visibleTo("http", snapshot, { visible: undefined, policy });
    const skills = snapshot.skills
      .flatMap(({ skill }) => (isVisible?.(skill) === false ? [] : [toPublished(skill, config)]))
      .sort((one, other) => byCodePoint(one.skill.slug, other.skill.slug));
    const bySlug = new Map(skills.map((published) => [published.skill.slug, published]));
    return (publication = Object.freeze({ skills, bySlug }));
  };
}

/** At most `limit` UTF-16 units of a text, in which clients count; never ends with half a character. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.slice(0, limit - 1);
  return `${/[\uD800-\uDBFF]$/.test(end) ? end.slice(0, -1) : end}…`;
}
