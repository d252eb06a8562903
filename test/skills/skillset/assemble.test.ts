import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assemble, diffSnapshots, isEmptyChange } from "../../../src/skills/skillset/assemble.ts";
import type { Root } from "../../../src/skills/skillset/roots.ts";
import { type Change, type Snapshot, isSlug } from "../../../src/skills/skill.ts";
import { found, foundSkill, record } from "../found-skills.ts";

const first: Root = { path: "/one", origin: "project" };
const second: Root = { path: "/two", origin: "user" };

function codes({ problems }: Snapshot): string[] {
  return problems.map(({ code, severity, file }) => `${severity} ${code} ${file}`);
}

/** The directory and the slug of each skill, sorted by slug. */
function slugs({ skills }: Snapshot): string[] {
  return skills.map(({ skill }) => `${skill.directory} ${skill.slug}`);
}

describe("assemble", () => {
  it("sorts skills by code point and lists the sources of each", () => {
    const snapshot = assemble(
      found(
        foundSkill("/one/b", [first, second], "b"),
        foundSkill("/one/a-b", [first], "a-b"),
        foundSkill("/one/a", [first], "a"),
      ),
    );
    expect(snapshot.skills.map(({ skill, sources }) => [skill.slug, ...sources])).toEqual([
      ["a", "/one"],
      ["a-b", "/one"],
      ["b", "/one", "/two"],
    ]);
    expect(snapshot.problems).toEqual([]);
  });

  it("distinguishes skills from user and explicit roots from project skills", () => {
    const linked = { ...record("/one/linked"), identity: "/two/linked" };
    const snapshot = assemble(
      found(
        foundSkill("/one/a", [first], "a"),
        foundSkill("/one/both", [first, second], "both"),
        // Its SKILL.md is a symlink to one in a user root, but the other files of its directory belong to the project.
        { record: linked, roots: [first, second] },
        foundSkill("/two/own", [second], "own"),
      ),
    );
    expect(snapshot.skills.map(({ skill, isOwn }) => [skill.slug, isOwn])).toEqual([
      ["a", undefined],
      ["both", true],
      ["linked", undefined],
      ["own", true],
    ]);
  });

  it("prefers the skill of the first root and reports the shadowed one", () => {
    const snapshot = assemble(found(foundSkill("/one/a", [first], "a"), foundSkill("/two/a", [second], "a")));
    expect(snapshot.skills.map(({ skill }) => skill.directory)).toEqual(["/one/a"]);
    expect(codes(snapshot)).toEqual(["warning skill-shadowed /two/a/SKILL.md"]);
  });

  it("keeps the slug for the skill with exactly that name and qualifies the slugs of the others", () => {
    const snapshot = assemble(
      found(
        foundSkill("/one/A", [first], "A"),
        foundSkill("/one/Á", [first], "Á"),
        foundSkill("/one/a", [first], "a"),
        foundSkill("/one/b", [first], "a"),
        foundSkill("/two/a", [second], "a"),
      ),
    );
    expect(
      slugs(snapshot)
        .map((line) => line.replace(/[0-9a-f]{8}$/, "…"))
        .sort(),
    ).toEqual(["/one/A a-…", "/one/a a", "/one/b b-a", "/one/Á a-…"]);
    expect(codes(snapshot).filter((line) => /slug|shadowed/.test(line))).toEqual([
      "warning slug-qualified /one/b/SKILL.md",
      "warning slug-qualified /one/A/SKILL.md",
      "warning slug-qualified /one/Á/SKILL.md",
      "warning skill-shadowed /two/a/SKILL.md",
    ]);
  });

  it("keeps the slug for the shallowest path, then the first, and qualifies others by the nearest distinguishing directory", () => {
    const places = ["/one/z/a", "/one/plugins/p/skills/a", "/one/plugins/q/skills/a", "/one/q/y/a", "/one/q/x/a"];
    const snapshot = assemble(found(...places.map((path, index) => foundSkill(path, [first], "a", `1.0.${index}`))));
    expect(slugs(snapshot)).toEqual([
      "/one/z/a a",
      "/one/plugins/p/skills/a p-a",
      // Other skills are below a directory named q, too.
      "/one/plugins/q/skills/a q-skills-a",
      "/one/q/x/a x-a",
      "/one/q/y/a y-a",
    ]);
    const offer = snapshot.skills.find(({ skill }) => skill.slug === "p-a");
    expect(offer?.skill).toMatchObject({ name: "p-a", namespace: "p-a", description: "Does." });
    expect(offer?.problems).toMatchObject([{ code: "slug-qualified", severity: "warning" }]);
  });

  it("offers identical copies once and reports the others in notes", () => {
    const content = "same";
    const copies = ["/one/x/y/a", "/one/b/a", "/one/c/a"].map((path) => ({
      ...foundSkill(path, [first], "a"),
      content,
    }));
    const other = { ...foundSkill("/one/d/a", [first], "a"), content: "other" };
    const snapshot = assemble(found(...copies, other, foundSkill("/one/e/a", [first], "a")));
    expect(slugs(snapshot)).toEqual(["/one/b/a a", "/one/d/a d-a", "/one/e/a e-a"]);
    expect(codes(snapshot).filter((line) => line.includes("copy"))).toEqual([
      "note skill-copy /one/c/a/SKILL.md",
      "note skill-copy /one/x/y/a/SKILL.md",
    ]);
  });

  it("reports an identical copy below a later root in a note, and any other skill of that name as shadowed", () => {
    const [original, copy] = [foundSkill("/one/a", [first], "a"), foundSkill("/two/a", [second], "a")];
    const other = foundSkill("/two/b/a", [second], "a");
    const contents = [
      { ...original, content: "same" },
      { ...copy, content: "same" },
      { ...other, content: "other" },
    ];
    const snapshot = assemble(found(...contents));
    expect(slugs(snapshot)).toEqual(["/one/a a", "/two/b/a b-a"]);
    expect(codes(snapshot)).toEqual(["note skill-copy /two/a/SKILL.md", "warning slug-qualified /two/b/a/SKILL.md"]);
    expect(codes(assemble(found(...contents.toSpliced(1, 1))))).toEqual(["warning skill-shadowed /two/b/a/SKILL.md"]);
  });

  it("gives each skill a unique slug that does not depend on the order", () => {
    const name = fc.constantFrom("a", "b", "a-b", "skills", "plugin", "x".repeat(70));
    const place = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/one/${names.join("/")}`);
    const tree = fc.uniqueArray(fc.tuple(place, fc.constantFrom("a", "b", "a-b", "A", "x".repeat(64))), {
      selector: ([path]) => path,
      maxLength: 30,
    });
    fc.assert(
      fc.property(tree, (places) => {
        const skills = places.map(([path, slug]) => foundSkill(path, [first], slug));
        const offered = slugs(assemble(found(...skills)));
        expect(offered).toHaveLength(skills.length);
        expect(new Set(offered.map((line) => line.split(" ")[1])).size).toBe(skills.length);
        for (const line of offered) expect(isSlug(line.split(" ")[1] ?? "")).toBe(true);
        expect(slugs(assemble(found(...skills.toReversed())))).toEqual(offered);
      }),
      { seed: 119_520_757, numRuns: 300 },
    );
  });

  it("gives a qualified slug that two skills compete for to the same one, whichever was found first", () => {
    const skills = [
      foundSkill("/one/b", [first], "b"),
      foundSkill("/one/q/a-a", [first], "b"),
      foundSkill("/one/c", [first], "a-b"),
      foundSkill("/one/r/a", [first], "a-b"),
    ];
    const offered = ["/one/q/a-a q-b", "/one/r/a a-a-b", "/one/c a-b", "/one/b b"];
    expect(slugs(assemble(found(...skills))).sort()).toEqual(offered.toSorted());
    expect(slugs(assemble(found(...skills.toReversed()))).sort()).toEqual(offered.toSorted());
  });

  it("prefers a malformed name in the first root to a valid name in the next", () => {
    const snapshot = assemble(found(foundSkill("/one/A", [first], "A"), foundSkill("/two/a", [second], "a")));
    expect(snapshot.skills.map(({ skill }) => skill.directory)).toEqual(["/one/A"]);
    expect(codes(snapshot)).toContain("warning skill-shadowed /two/a/SKILL.md");
  });

  it("gives all versions of a skill the same slug", () => {
    const snapshot = assemble(
      found(
        foundSkill("/one/A/1.0.0", [first], "A", "1.0.0"),
        foundSkill("/one/A/3.0.0", [first], "A", "3.0.0"),
        foundSkill("/one/a/1.0.0", [first], "a", "1.0.0"),
        foundSkill("/one/a/2.0.0", [first], "A", "2.0.0"),
      ),
    );
    expect(
      snapshot.skills.map(({ versions }) => versions.map(({ slug, file }) => `${slug.slice(0, 2)} ${file}`)),
    ).toEqual([
      ["a /one/a/2.0.0/SKILL.md", "a /one/a/1.0.0/SKILL.md"],
      ["a- /one/A/3.0.0/SKILL.md", "a- /one/A/1.0.0/SKILL.md"],
    ]);
    expect(codes(snapshot).filter((line) => line.includes("qualified"))).toHaveLength(2);
  });

  it("does not let an invalid skill shadow a valid one", () => {
    const broken = { record: record("/one/a", "no frontmatter"), roots: [first] };
    const snapshot = assemble(found(broken, foundSkill("/two/a", [second], "a")));
    expect(snapshot.skills.map(({ skill }) => skill.directory)).toEqual(["/two/a"]);
    expect(codes(snapshot)).toEqual(["error frontmatter-missing /one/a/SKILL.md"]);
  });

  it("offers the newest release, or the newest prerelease if there are no releases", () => {
    const versions = (...all: string[]): Snapshot =>
      assemble(found(...all.map((version) => foundSkill(`/one/a/${version}`, [first], "a", version))));
    const released = versions("1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1");
    expect(released.skills[0]?.skill.version).toBe("1.10.0");
    expect(released.skills[0]?.versions.map(({ version }) => version)).toEqual([
      "2.0.0-rc.1",
      "1.10.0",
      "1.9.0",
      "1.0.0",
    ]);
    expect(versions("1.0.0-alpha", "1.0.0-beta").skills[0]?.skill.version).toBe("1.0.0-beta");
    expect(released.problems.filter(({ code }) => code === "slug-collision")).toEqual([]);
  });

  it("reports a duplicate version", () => {
    const twice = [
      foundSkill("/one/a/1.0.0", [first], "a", "1.0.0"),
      foundSkill("/one/a/1.0.1", [first], "a", "1.0.0"),
    ];
    const snapshot = assemble(found(...twice));
    expect(snapshot.skills[0]?.versions).toHaveLength(1);
    expect(codes(snapshot)).toContain("error slug-collision /one/a/1.0.1/SKILL.md");
  });

  it("attaches the problems of a skill to it and lists them among all problems", () => {
    const snapshot = assemble({
      skills: [foundSkill("/one/x", [first], "a")],
      findings: [{ code: "unreadable", file: "/one/y", line: 1, column: 1, message: "m", fix: "f" }],
    });
    expect(snapshot.skills[0]?.problems.map(({ code }) => code)).toEqual(["name-directory-mismatch"]);
    expect(snapshot.problems.map(({ code }) => code)).toEqual(["unreadable", "name-directory-mismatch"]);
  });

  it("reuses the offer objects of unchanged skills", () => {
    const before = assemble(found(foundSkill("/one/a", [first], "a"), foundSkill("/one/b", [first], "b")));
    const after = assemble(
      found(foundSkill("/one/a", [first], "a"), foundSkill("/one/b", [first], "b", "2.0.0")),
      before,
    );
    expect(after.skills[0]).toBe(before.skills[0]);
    expect(after.skills[1]).not.toBe(before.skills[1]);
  });

  it("offers or reports every skill, with unique slugs", () => {
    const name = fc.constantFrom("a", "b", "B", "a--b", "a-b");
    const place = fc.tuple(fc.constantFrom(first, second), name, fc.constantFrom("", "/1.0.0", "/2.0.0"));
    fc.assert(
      fc.property(fc.array(place), (places) => {
        const skills = places.map(([root, slug, version], index) =>
          foundSkill(`${root.path}/${index}${version}`, [root], slug),
        );
        skills.sort((a, b) => (a.record.path < b.record.path ? -1 : 1));
        const { skills: offers, problems } = assemble(found(...skills));
        const told = new Set([
          ...offers.flatMap(({ versions }) => versions.map(({ file }) => file)),
          ...problems.map(({ file }) => file),
        ]);
        expect(skills.every((skill) => told.has(`${skill.record.path}/SKILL.md`))).toBe(true);
        expect(new Set(offers.map(({ skill }) => skill.slug)).size).toBe(offers.length);
      }),
    );
  });
});

const root = { path: "/s", origin: "user" } as const;

/** A snapshot of skills with the given versions. */
function snapshotOf(versions: Readonly<Record<string, string>>): Snapshot {
  return assemble(
    found(...Object.entries(versions).map(([name, version]) => foundSkill(`/s/${name}`, [root], name, version))),
  );
}
function changedSlugs({ added, removed, changed }: Change): Record<string, string[]> {
  return {
    added: added.map(({ skill }) => skill.slug),
    removed: removed.map(({ skill }) => skill.slug),
    changed: changed.map(({ after }) => after.skill.slug),
  };
}

describe("diffSnapshots", () => {
  it("returns added, removed and changed skills", () => {
    const change = diffSnapshots(snapshotOf({ a: "1", b: "1", c: "1" }), snapshotOf({ b: "1", c: "2", d: "1" }));
    expect(changedSlugs(change)).toEqual({ added: ["d"], removed: ["a"], changed: ["c"] });
    expect(change.changed[0]?.before.skill.version).toBe("1");
    expect(change.changed[0]?.after.skill.version).toBe("2");
  });

  it("reports a skill as changed if its sources or problems differ", () => {
    const one = assemble(found(foundSkill("/s/a", [root], "a")));
    const other = assemble(found(foundSkill("/s/a", [root, { path: "/t", origin: "user" }], "a")));
    expect(changedSlugs(diffSnapshots(one, other)).changed).toEqual(["a"]);
    const problem = { code: "x", severity: "warning", file: "/f", line: 1, column: 1, message: "m", fix: "f" } as const;
    const worse = { ...one, skills: one.skills.map((offer) => ({ ...offer, problems: [problem] })) };
    expect(changedSlugs(diffSnapshots(one, worse)).changed).toEqual(["a"]);
  });

  it("is empty only for equal snapshots, and turns the first snapshot into the second", () => {
    const versions = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.constantFrom("1", "2"));
    fc.assert(
      fc.property(versions, versions, (left, right) => {
        const [before, after] = [snapshotOf(left), snapshotOf(right)];
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
