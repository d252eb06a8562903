import type { Steps } from "../../../base/promises/slices.ts";
import type { OfferedSkill, Snapshot } from "../../../skills/skill.ts";
import { type Rows, rowsAtOnce } from "./row-texts.ts";
import type { ShownSkill } from "./shown-skill.ts";
import { type DisplayDirectories, type KnownOfSkill, placeName, toShownSkill, toUnofferedSkill } from "./to-row.ts";
import { findUnoffered } from "./unoffered.ts";

/** Makes the rows of snapshots; those of skills of which nothing changed are the same objects. */
export interface RowMaker {
  readonly make: (snapshot: Snapshot) => Steps<Rows>;
  /** Forgets the row of a skill whose files changed, which its offer does not show. */
  readonly forget: (offered: OfferedSkill) => void;
}

export function createRowMaker(places: DisplayDirectories, knownOf: (offered: OfferedSkill) => KnownOfSkill): RowMaker {
  const made = new WeakMap<OfferedSkill, { readonly known: KnownOfSkill; readonly shown: ShownSkill }>();
  let others:
    { readonly of: Snapshot; readonly shown: readonly ShownSkill[]; readonly unread: readonly string[] } | undefined;

  function toShown(offered: OfferedSkill): ShownSkill {
    const known = knownOf(offered);
    const last = made.get(offered);
    if (last !== undefined && isSameKnown(last.known, known)) return last.shown;
    const shown = toShownSkill(offered, known, places);
    made.set(offered, { known, shown });
    return shown;
  }

  function* othersOf(snapshot: Snapshot): Steps<NonNullable<typeof others>> {
    if (others?.of === snapshot) return others;
    const { skills, unread } = yield* findUnoffered(snapshot);
    others = {
      of: snapshot,
      shown: Array.from(skills, ([file, problems]) => toUnofferedSkill(file, problems, places)),
      unread: unread.map(({ file, message }) => `${placeName(file, places)}: ${message}`),
    };
    return others;
  }

  return {
    *make(snapshot) {
      const found: ShownSkill[] = [];
      for (const offered of snapshot.skills) {
        found.push(toShown(offered));
        if (found.length % rowsAtOnce === 0) yield;
      }
      const { shown, unread } = yield* othersOf(snapshot);
      if (shown.length > 0) found.push(...shown);
      if (shown.length > 0) found.sort((a, b) => byText(a.row.name, b.row.name) || byText(a.row.id, b.row.id));
      return { byId: new Map(found.map((one) => [one.row.id, one])), unread };
    },
    forget: (offered) => void made.delete(offered),
  };
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSameKnown(a: KnownOfSkill, b: KnownOfSkill): boolean {
  return a.standing === b.standing && a.wasApproved === b.wasApproved && a.environment === b.environment;
}
