import { byCodePoint } from "../../skills/text/code-point-order.ts";
import type { OfferedSkill, Snapshot } from "../../skills/skill.ts";
import { guideSkill } from "../guide/guide.ts";

/** The skills of a snapshot and the guide, by name. */
export interface SkillIndex {
  /** Canonical names, ordered by code point. */
  readonly names: readonly string[];
  /** In the order of `names`. */
  readonly offers: readonly OfferedSkill[];
  /** By canonical name and by slug. */
  find(nameOrSlug: string): OfferedSkill | undefined;
}

const indexes = new WeakMap<Snapshot, SkillIndex>();

/** The index of a snapshot, created once. A skill with the guide's name does not replace the guide. */
export function indexOf(snapshot: Snapshot): SkillIndex {
  const known = indexes.get(snapshot);
  if (known !== undefined) return known;
  const guide = guideSkill.skill;
  const others = snapshot.skills.filter(({ skill }) => skill.slug !== guide.slug && skill.name !== guide.name);
  const offers = [...others, guideSkill].sort((a, b) => byCodePoint(a.skill.name, b.skill.name));
  const bySlug = new Map(offers.map((offer) => [offer.skill.slug, offer]));
  const byName = new Map(offers.map((offer) => [offer.skill.name, offer]));
  const index: SkillIndex = {
    names: offers.map(({ skill }) => skill.name),
    offers,
    find: (nameOrSlug) => byName.get(nameOrSlug) ?? bySlug.get(nameOrSlug),
  };
  indexes.set(snapshot, index);
  return index;
}

/** The index of the first name that is not before `name`. */
export function placeOf(names: readonly string[], name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byCodePoint(names[middle] ?? "", name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
