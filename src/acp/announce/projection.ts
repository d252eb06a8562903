import type { OfferedSkill } from "../../skills/skill.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { toAvailableSkill } from "../../wire/to-available-skill.ts";

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
