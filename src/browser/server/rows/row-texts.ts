import type { Steps } from "../../../base/promises.ts";
import type { SkillRow, SkillListChange } from "../../wire/skills.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { OfferedSkill } from "../../../skills/skill.ts";

/** All rows of one moment by id, in the order of the list. */
export interface Rows {
  readonly byId: ReadonlyMap<string, ShownSkill>;
  readonly unread: readonly string[];
}

/** The number of rows between two checks of the time. */
export const rowsAtOnce = 64;

const texts = new WeakMap<SkillRow, string>();

/** The JSON of a row, cached per row. */
function textOf(row: SkillRow): string {
  const known = texts.get(row) ?? JSON.stringify(row);
  texts.set(row, known);
  return known;
}

/** Compares two lists: the rows that are new or different, and the ids of those that are gone. */
export function* compareRows(old: Rows, now: Rows): Steps<Omit<SkillListChange, "revision">> {
  const put: SkillRow[] = [];
  let count = 0;
  for (const [id, { row }] of now.byId) {
    const last = old.byId.get(id)?.row;
    if (last !== row && (last === undefined || textOf(last) !== textOf(row))) put.push(row);
    if (++count % rowsAtOnce === 0) yield;
  }
  return { put, removed: [...old.byId.keys()].filter((id) => !now.byId.has(id)) };
}

/** Encodes a `SkillList` as JSON. */
export function* encodeRows({ byId, unread }: Rows, revision: number): Steps<Uint8Array<ArrayBuffer>> {
  const shown = [...byId.values()];
  const pieces: string[] = [];
  for (let at = 0; at < shown.length; at += rowsAtOnce) {
    const some = shown.slice(at, at + rowsAtOnce);
    pieces.push(some.map(({ row }) => textOf(row)).join(","));
    yield;
  }
  const json = `{"revision":${revision},"skills":[${pieces.join(",")}],"unread":${JSON.stringify(unread)}}`;
  return new Uint8Array(Buffer.from(json));
}

/** A skill as the page lists it. */
export interface ShownSkill {
  readonly row: SkillRow;
  /** The path of SKILL.md, as its directory spells it. */
  readonly file: string;
  /** Absent for a skill that is not offered. */
  readonly offered?: OfferedSkill;
  readonly problems: readonly Problem[];
}
