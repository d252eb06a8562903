import type { App } from "../../runtime/app.ts";
import { visibleTo } from "../../runtime/caller.ts";
import type { Policy } from "../../runtime/trust.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { byCodePoint } from "../../base/text/code-points.ts";
import type { Skill, Snapshot } from "../../skills/skill.ts";
import { matchesGlob } from "../../base/text/name-glob.ts";
import { type AccessPolicy, type CapabilityType, accessPolicies, capabilityTypes } from "../../wire/skill-sharing.ts";
import type { ServeConfig } from "../config.ts";

/** A published skill, in the indexes of Skill Sharing and Agent Skills, and in the marketplace. */
export interface PublishedSkill {
  readonly skill: Skill;
  /** The unique id, such as `com.example.rows-clean-v1`. */
  readonly id: string;
  readonly type: CapabilityType;
  readonly access: AccessPolicy;
}

/** The published skills at one moment. Frozen; the same object as long as nothing changed. */
export interface Publication {
  /** All skills, ordered by slug. */
  readonly skills: readonly PublishedSkill[];
  /** All skills, by slug. */
  readonly bySlug: ReadonlyMap<string, PublishedSkill>;
}

/** Whether one of the patterns matches the name or slug of the skill. */
export function isNamedIn(patterns: readonly string[], { name, slug }: Pick<Skill, "name" | "slug">): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name) || matchesGlob(pattern, slug));
}

/** The policies from strict to permissive: if several patterns match, the strictest counts. */
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

/** The interval of reading policies from the disk, which requests must not wait for. Runs are authorized by the policy of their moment. */
const policyEveryMs = 100;

/** Returns a function for the present publication: all skills that no policy denies. It returns the same object until that changes. */
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

/** Shortens a text to at most `limit` UTF-16 units, the units of clients. Never ends with half a character. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.slice(0, limit - 1);
  return `${/[\uD800-\uDBFF]$/.test(end) ? end.slice(0, -1) : end}…`;
}
