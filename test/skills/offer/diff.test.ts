import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assemble } from "../../../src/skills/offer/assemble.ts";
import { diffSnapshots, isEmptyChange } from "../../../src/skills/offer/diff.ts";
import type { Change, Snapshot } from "../../../src/skills/skill.ts";
import { found, foundSkill } from "../found-skills.ts";

const root = { path: "/s", origin: "user" } as const;

/** A snapshot of skills with the given versions. */
function snapshot(versions: Readonly<Record<string, string>>): Snapshot {
  return assemble(
    found(...Object.entries(versions).map(([name, version]) => foundSkill(`/s/${name}`, [root], name, version))),
  );
}
function slugs({ added, removed, changed }: Change): Record<string, string[]> {
  return {
    added: added.map(({ skill }) => skill.slug),
    removed: removed.map(({ skill }) => skill.slug),
    changed: changed.map(({ after }) => after.skill.slug),
  };
}

describe("diffSnapshots", () => {
  it("returns added, removed and changed skills", () => {
    const change = diffSnapshots(snapshot({ a: "1", b: "1", c: "1" }), snapshot({ b: "1", c: "2", d: "1" }));
    expect(slugs(change)).toEqual({ added: ["d"], removed: ["a"], changed: ["c"] });
    expect(change.changed[0]?.before.skill.version).toBe("1");
    expect(change.changed[0]?.after.skill.version).toBe("2");
  });

  it("reports a skill as changed if its sources or problems differ", () => {
    const one = assemble(found(foundSkill("/s/a", [root], "a")));
    const other = assemble(found(foundSkill("/s/a", [root, { path: "/t", origin: "user" }], "a")));
    expect(slugs(diffSnapshots(one, other)).changed).toEqual(["a"]);
    const problem = { code: "x", severity: "warning", file: "/f", line: 1, column: 1, message: "m", fix: "f" } as const;
    const worse = { ...one, skills: one.skills.map((offer) => ({ ...offer, problems: [problem] })) };
    expect(slugs(diffSnapshots(one, worse)).changed).toEqual(["a"]);
  });

  it("is empty only for equal snapshots, and turns the first snapshot into the second", () => {
    const versions = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2"));
    fc.assert(
      fc.property(versions, versions, (left, right) => {
        const [before, after] = [snapshot(left), snapshot(right)];
        const change = diffSnapshots(before, after);
        expect(isEmptyChange(change)).toBe(JSON.stringify(sorted(left)) === JSON.stringify(sorted(right)));
        const result: Record<string, string> = { ...left };
        for (const { skill } of change.removed) Reflect.deleteProperty(result, skill.slug);
        for (const { skill } of change.added) result[skill.slug] = skill.version;
        for (const { after: offer } of change.changed) result[offer.skill.slug] = offer.skill.version;
        expect(sorted(result)).toEqual(sorted(right));
      }),
    );
  });
});

function sorted(versions: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(versions).sort(([a], [b]) => (a < b ? -1 : 1));
}
