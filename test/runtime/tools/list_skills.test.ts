import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSkillsError } from "../../../src/base/errors.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../../src/skills/skill.ts";
import { byCodePoint } from "../../../src/base/text/code-points.ts";
import { fromCursor, toCursor } from "../../../src/runtime/tools/list_skills.ts";
import { agentSkill, openTools, protocolSkill, refusal } from "./open-tools.ts";

interface Page {
  readonly skills: readonly { readonly name: string; readonly version: string }[];
  readonly next_cursor: string | null;
}

const guide = "skills.protocol.guide";

function offer(name: string, over: Partial<Skill> = {}): OfferedSkill {
  const slug = name.replaceAll(".", "-");
  const directory = `/skills/${name}`;
  const skill: Skill = {
    name,
    slug,
    version: "1.0.0",
    kind: "instruction",
    namespace: name.split(".")[0] ?? name,
    description: `Does ${name}.`,
    tags: [],
    metadata: {},
    dialect: "skills-protocol",
    directory,
    file: `${directory}/SKILL.md`,
    ...over,
  };
  return { skill, sources: ["/skills"], problems: [], versions: [skill] };
}

const snapshotOf = (names: readonly string[]): Snapshot => ({ skills: names.map((name) => offer(name)), problems: [] });

/** The names on all pages; `skillsAt` returns the snapshot for each page. */
async function allPages(skillsAt: (page: number) => Snapshot, args: object, limit: number): Promise<string[]> {
  const { call } = await openTools({});
  const names: string[] = [];
  let cursor: string | null | undefined;
  for (let page = 0; cursor !== null; page++) {
    const given = { ...args, limit, ...(cursor !== undefined && { cursor }) };
    const answer = (await call("list_skills", given, { skills: { snapshot: skillsAt(page) } })) as Page;
    expect(answer.skills.length).toBeLessThanOrEqual(limit);
    names.push(...answer.skills.map(({ name }) => name));
    cursor = answer.next_cursor;
  }
  return names;
}

describe("rows", () => {
  test("detail names returns names and versions, detail summary the other fields", async () => {
    const { call } = await openTools({ ...protocolSkill("sales.leads.sync", "0.2.0", 'tags = ["crm"]\n') });
    expect(await call("list_skills", { namespace: "sales" })).toEqual({
      skills: [{ name: "sales.leads.sync", version: "0.2.0" }],
      next_cursor: null,
    });
    expect(await call("list_skills", { namespace: "sales", detail: "summary" })).toEqual({
      skills: [
        {
          name: "sales.leads.sync",
          version: "0.2.0",
          description: "Does sales.leads.sync.",
          namespace: "sales",
          kind: "instruction",
          tags: ["crm"],
        },
      ],
      next_cursor: null,
    });
  });

  test("the guide is listed even without skills", async () => {
    const { call } = await openTools({});
    expect(await call("list_skills")).toEqual({ skills: [{ name: guide, version: "0.1.0" }], next_cursor: null });
  });

  test("names are sorted by code point, not by slug", async () => {
    const { call } = await openTools({
      ...agentSkill("a-b"),
      ...protocolSkill("a.c"),
      ...protocolSkill("a.a.b"),
      ...agentSkill("a0"),
    });
    const { skills } = (await call("list_skills")) as Page;
    expect(skills.map(({ name }) => name)).toEqual(["a-b", "a.a.b", "a.c", "a0", guide]);
  });

  test("a skill with the guide's name does not replace it", async () => {
    for (const impostor of [protocolSkill(guide, "9.9.9"), agentSkill("skills-protocol-guide")]) {
      const { call } = await openTools(impostor);
      expect(await call("list_skills")).toEqual({ skills: [{ name: guide, version: "0.1.0" }], next_cursor: null });
    }
  });

  test("at most 20 tags are listed", async () => {
    const { call } = await openTools({});
    const tags = Array.from({ length: 21 }, (_, index) => `t${index}`);
    const skills = { snapshot: { skills: [offer("a", { tags })], problems: [] } };
    const answer = (await call("list_skills", { namespace: "a", detail: "summary" }, { skills })) as {
      skills: { tags: string[] }[];
    };
    expect(answer.skills[0]?.tags).toEqual(tags.slice(0, 20));
  });
});

describe("namespace", () => {
  test.each([
    ["a", ["a", "a.b", "a.b.c"]],
    ["a.b", ["a.b", "a.b.c"]],
    ["a.b.c", ["a.b.c"]],
    ["a-b", ["a-b"]],
    ["a.", []],
    ["A", []],
    ["nothing", []],
    ["skills", [guide]],
    ["skills.protocol", [guide]],
  ])("%s lists %j", async (namespace, expected) => {
    const snapshot = snapshotOf(["a", "a-b", "a.b", "a.b.c", "a0", "ab", "ab.c"]);
    for (const limit of [1, 200]) expect(await allPages(() => snapshot, { namespace }, limit)).toEqual(expected);
  });

  test("an empty namespace, which some models send, is ignored", async () => {
    const { call } = await openTools(agentSkill("a"));
    expect(await call("list_skills", { namespace: "" })).toEqual(await call("list_skills"));
  });
});

describe("limit", () => {
  const snapshot = snapshotOf(Array.from({ length: 250 }, (_, index) => `s${index}`));

  test.each([
    [undefined, 50],
    [1, 1],
    [199, 199],
    [200, 200],
    [201, 200],
    [1e300, 200],
  ])("a limit of %s returns %i rows", async (limit, rows) => {
    const { call } = await openTools({});
    const page = (await call("list_skills", limit === undefined ? {} : { limit }, { skills: { snapshot } })) as Page;
    expect(page.skills).toHaveLength(rows);
    expect(page.next_cursor).not.toBeNull();
  });

  test.each([0, -1, 1.5, "50", null, true])("a limit of %j is a violation", async (limit) => {
    const { call } = await openTools({});
    const { code, violations } = await refusal(call("list_skills", { limit }));
    expect(code).toBe("VALIDATION_ERROR");
    expect(violations).toEqual([{ field: "/limit", expected: "a whole number, 1 or more", actual: limit ?? "null" }]);
  });
});

describe("pages", () => {
  const name = fc
    .array(fc.string({ minLength: 1, maxLength: 2, unit: fc.constantFrom("a", "b", "0") }), {
      minLength: 1,
      maxLength: 3,
    })
    .map((segments) => segments.join("."));
  const someNames = fc.uniqueArray(name, { maxLength: 12, selector: (text) => text });
  const limits = fc.integer({ min: 1, max: 5 });

  test("together list every name once, in order, with any limit", async () => {
    await fc.assert(
      fc.asyncProperty(someNames, limits, async (names, limit) => {
        const expected = [...names, guide].sort(byCodePoint);
        expect(await allPages(() => snapshotOf(names), {}, limit)).toEqual(expected);
      }),
    );
  });

  test("list unchanged skills exactly once, in order, while others are added and removed between pages", async () => {
    await fc.assert(
      fc.asyncProperty(someNames, fc.array(someNames, { minLength: 1 }), limits, async (kept, others, limit) => {
        const at = (page: number): Snapshot =>
          snapshotOf([...new Set([...kept, ...(others[page % others.length] ?? [])])]);
        const found = await allPages(at, {}, limit);
        expect(found).toEqual([...new Set(found)].sort(byCodePoint));
        expect(found).toEqual(expect.arrayContaining([...kept, guide]));
      }),
    );
  });

  test("a cursor of another namespace, and an invalid one, are refused", async () => {
    const { call } = await openTools({ ...protocolSkill("a.b"), ...protocolSkill("a.c") });
    const { next_cursor: cursor } = (await call("list_skills", { namespace: "a", limit: 1 })) as Page;
    expect(await call("list_skills", { namespace: "a", cursor })).toMatchObject({ skills: [{ name: "a.c" }] });
    for (const args of [{ cursor }, { cursor, namespace: "b" }, { cursor: "" }, { cursor: "x" }]) {
      expect(await refusal(call("list_skills", args))).toMatchObject({ code: "INVALID_CURSOR" });
    }
  });

  test("a cursor outlives the toolbox that issued it", async () => {
    const one = await openTools(agentSkill("a"));
    const { next_cursor: cursor } = (await one.call("list_skills", { limit: 1 })) as Page;
    const other = await openTools(agentSkill("a"));
    expect(await other.call("list_skills", { cursor })).toMatchObject({ skills: [{ name: guide }] });
  });

  test("next_cursor is null if all remaining skills are hidden", async () => {
    const { call } = await openTools({});
    const skills = { snapshot: snapshotOf(["a", "x.b", "x.c"]) };
    const visible = ({ name }: Skill) => name !== "x.c";
    expect(await call("list_skills", { namespace: "x", limit: 1 }, { skills, visible })).toEqual({
      skills: [{ name: "x.b", version: "1.0.0" }],
      next_cursor: null,
    });
  });
});

describe("query", () => {
  const library = [
    offer("pdf", { description: "Reads and fills PDF forms.", tags: ["documents"] }),
    offer("docs.pdf.merge", { description: "Joins documents.", tags: ["pdf"] }),
    offer("commit-message", { description: "Writes a commit message from the staged changes." }),
    offer("invoices", { description: "Bills customers; attaches a PDF." }),
    offer("übersetzung", { description: "Übersetzt Texte. 翻訳します。" }),
  ];
  const skills = { snapshot: { skills: library, problems: [] } };
  async function find(query: string, over: object = {}): Promise<string[]> {
    const { call } = await openTools({});
    const page = (await call("list_skills", { query, ...over }, { skills })) as Page;
    return page.skills.map(({ name }) => name);
  }

  test.each([
    ["pdf", ["docs.pdf.merge", "pdf", "invoices"]],
    ["PDF forms", ["pdf", "docs.pdf.merge", "invoices"]],
    ["write commits", ["commit-message"]],
    ["message", ["commit-message"]],
    ["commit_message", ["commit-message"]],
    ["invoice", ["invoices"]],
    ["ÜBERSETZUNG", ["übersetzung"]],
    ["翻訳", ["übersetzung"]],
    ["tax", []],
    ["!?", []],
    ["protocol", [guide]],
  ])("%j finds %j", async (query, names) => {
    expect(await find(query)).toEqual(names);
  });

  test.each(["", "  "])("the empty query %j is ignored", async (query) => {
    const { call } = await openTools(agentSkill("a"));
    expect(await call("list_skills", { query })).toEqual(await call("list_skills"));
  });

  test("can be combined with namespace, detail and visibility", async () => {
    expect(await find("pdf", { namespace: "docs" })).toEqual(["docs.pdf.merge"]);
    const { call } = await openTools({});
    const visible = ({ name }: Skill) => name !== "pdf";
    expect(await call("list_skills", { query: "fills", detail: "summary" }, { skills })).toMatchObject({
      skills: [{ name: "pdf", tags: ["documents"] }],
    });
    expect(await call("list_skills", { query: "fills" }, { skills, visible })).toEqual({
      skills: [],
      next_cursor: null,
    });
  });

  test("more than 256 characters are refused", async () => {
    const { call } = await openTools({});
    const { code, violations } = await refusal(call("list_skills", { query: "x".repeat(257) }));
    expect(code).toBe("VALIDATION_ERROR");
    expect(violations).toMatchObject([{ field: "/query", expected: "at most 256 characters" }]);
  });

  test("a cursor of another query is refused, unless the query has the same words in another spelling", async () => {
    const { call } = await openTools({});
    const { next_cursor: cursor } = (await call("list_skills", { query: "pdf", limit: 1 }, { skills })) as Page;
    expect(await call("list_skills", { query: " PDF!", cursor }, { skills })).toMatchObject({
      skills: [{ name: "pdf" }, { name: "invoices" }],
    });
    for (const args of [{ cursor }, { cursor, query: "forms" }, { cursor, query: "pdf", namespace: "docs" }]) {
      expect(await refusal(call("list_skills", args, { skills }))).toMatchObject({ code: "INVALID_CURSOR" });
    }
  });

  const word = fc.constantFrom("pdf", "merge", "form", "a", "commit", "日本");
  const some = fc.uniqueArray(
    fc.record({ name: fc.stringMatching(/^[a-c]{1,3}$/), words: fc.array(word, { maxLength: 4 }) }),
    { maxLength: 10, selector: ({ name }) => name },
  );
  const toSnapshot = (found: readonly { name: string; words: string[] }[]): Snapshot => ({
    skills: found.map(({ name, words }) => offer(name, { description: words.join(" "), tags: words.slice(0, 1) })),
    problems: [],
  });

  test("pages together list every match once, in the order of a single page", async () => {
    await fc.assert(
      fc.asyncProperty(
        some,
        fc.array(word, { minLength: 1 }),
        fc.integer({ min: 1, max: 4 }),
        async (found, words, limit) => {
          const query = words.join(" ");
          const all = await allPages(() => toSnapshot(found), { query }, 200);
          expect(await allPages(() => toSnapshot(found), { query }, limit)).toEqual(all);
          expect(all).toEqual([...new Set(all)]);
        },
      ),
    );
  });

  test("unchanged skills are listed once while others are added and removed between pages", async () => {
    await fc.assert(
      fc.asyncProperty(some, some, word, async (kept, others, query) => {
        const names = new Set(kept.map(({ name }) => name));
        const more = [...kept, ...others.filter(({ name }) => !names.has(name))];
        const found = await allPages((page) => toSnapshot(page % 2 === 0 ? kept : more), { query }, 1);
        expect(found).toEqual([...new Set(found)]);
        expect(found).toEqual(expect.arrayContaining(await allPages(() => toSnapshot(kept), { query }, 200)));
      }),
    );
  });

  test("any query returns a list", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 256 }), async (query) => {
        expect(await find(query)).toBeInstanceOf(Array);
      }),
    );
  });
});

const codeOf = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    return isSkillsError(error) ? error.code : String(error);
  }
};
const optional = fc.option(fc.string(), { nil: undefined });
const list = fc.record({ namespace: optional, query: optional });

test("a cursor returns its row for its list, and is safe in a URL", () => {
  fc.assert(
    fc.property(list, fc.string(), fc.nat(), (of, name, rank) => {
      const cursor = toCursor(of, { name, rank });
      expect(fromCursor(cursor, of)).toEqual({ name, rank: of.query === undefined ? 0 : rank });
      expect(cursor).toMatch(/^[\w-]+$/);
    }),
  );
});

test("a cursor of another namespace or query is refused", () => {
  fc.assert(
    fc.property(list, list, fc.string(), (one, other, name) => {
      fc.pre(one.namespace !== other.namespace || one.query !== other.query);
      expect(codeOf(() => fromCursor(toCursor(one, { name, rank: 1 }), other))).toBe("INVALID_CURSOR");
    }),
  );
});

test("a cursor with a changed, added or missing character is refused", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. \n";
  const cursor = toCursor({ namespace: "sales" }, { name: "sales.leads.sync" });
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...Array.from(letters)), (at, letter) => {
      fc.pre(cursor[at] !== letter);
      for (const changed of [
        cursor.slice(0, at) + letter + cursor.slice(at + 1),
        cursor.slice(0, at) + letter + cursor.slice(at),
        cursor.slice(0, at),
        cursor + letter,
      ]) {
        expect(codeOf(() => fromCursor(changed, { namespace: "sales" }))).toBe("INVALID_CURSOR");
      }
    }),
  );
});

test("any other text is refused with the same error", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(codeOf(() => fromCursor(text, {}))).toBe("INVALID_CURSOR");
    }),
  );
});
