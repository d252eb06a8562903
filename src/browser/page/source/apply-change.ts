import type { SkillList, SkillRow, SkillListChange } from "../../wire/skills.ts";

/** The list after a change, with untouched rows as they were; undefined if a change in between was missed. */
export function applyChange(list: SkillList, change: SkillListChange): SkillList | undefined {
  if (change.revision <= list.revision) return list;
  if (change.revision !== list.revision + 1) return undefined;
  const put = new Map(change.put.map((row) => [row.id, row]));
  const removed = new Set(change.removed);
  const unchanged: SkillRow[] = [];
  for (const row of list.skills) {
    if (removed.has(row.id)) continue;
    const newer = put.get(row.id);
    if (newer === undefined) unchanged.push(row);
    else if (newer.name === row.name) {
      unchanged.push(newer);
      put.delete(row.id);
    }
  }
  return { ...list, revision: change.revision, skills: merge(unchanged, [...put.values()].sort(byName)) };
}

function merge(skills: readonly SkillRow[], added: readonly SkillRow[]): readonly SkillRow[] {
  if (added.length === 0) return skills;
  const merged: SkillRow[] = [];
  let next = 0;
  for (const row of skills) {
    for (let one = added[next]; one !== undefined && byName(one, row) < 0; one = added[++next]) merged.push(one);
    merged.push(row);
  }
  return [...merged, ...added.slice(next)];
}

function byName(one: SkillRow, other: SkillRow): number {
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}
