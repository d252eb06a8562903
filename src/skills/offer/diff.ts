import { isDeepStrictEqual } from "node:util";
import type { Problem } from "../rules/problem.ts";
import type { Change, OfferedSkill, Skill, Snapshot } from "../skill.ts";

/** The difference between two snapshots, by slug and in their order. Fast for shared objects. */
export function diffSnapshots(before: Snapshot, after: Snapshot): Change {
  const left = new Map(before.skills.map((offer) => [offer.skill.slug, offer]));
  const added: OfferedSkill[] = [];
  const changed: { before: OfferedSkill; after: OfferedSkill }[] = [];
  for (const offer of after.skills) {
    const previous = left.get(offer.skill.slug);
    left.delete(offer.skill.slug);
    if (previous === undefined) added.push(offer);
    else if (!isSameOffer(previous, offer)) changed.push({ before: previous, after: offer });
  }
  return { added, removed: [...left.values()], changed };
}

/** Whether a change contains no skill. */
export function isEmptyChange({ added, removed, changed }: Change): boolean {
  return added.length === 0 && removed.length === 0 && changed.length === 0;
}

/** Whether two offers are deeply equal. */
export function isSameOffer(a: OfferedSkill, b: OfferedSkill): boolean {
  return (
    a === b ||
    (isSameSkill(a.skill, b.skill) &&
      isSameList(a.versions, b.versions, isSameSkill) &&
      isSameList(a.sources, b.sources, Object.is) &&
      a.isOwn === b.isOwn &&
      isSameProblems(a.problems, b.problems))
  );
}

export function isSameProblems(a: readonly Problem[], b: readonly Problem[]): boolean {
  return isSameList(a, b, isDeepStrictEqual);
}

function isSameSkill(a: Skill, b: Skill): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

function isSameList<Item>(a: readonly Item[], b: readonly Item[], isSame: (a: Item, b: Item) => boolean): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => isSame(item, b[index] as Item)));
}
