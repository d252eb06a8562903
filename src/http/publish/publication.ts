import type { OfferedSkill, Skill } from "../../skills/skill.ts";
import type { AccessPolicy, CapabilityType } from "../../wire/skill-sharing.ts";

/** A skill as it is published: in the index of Skill Sharing, that of Agent Skills, and the marketplace. */
export interface PublishedSkill {
  readonly offered: OfferedSkill;
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
