import type { SkillRow } from "../../wire/skills.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { OfferedSkill } from "../../../skills/skill.ts";

/** A skill as the page lists it. */
export interface ShownSkill {
  readonly row: SkillRow;
  /** The path of SKILL.md, as its directory spells it. */
  readonly file: string;
  /** Absent for what is not offered. */
  readonly offered?: OfferedSkill;
  readonly problems: readonly Problem[];
}
