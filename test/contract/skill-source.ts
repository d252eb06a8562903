import { effect } from "@preact/signals";
import { describe, expect, it } from "vitest";
import type { BrowserSkillSource } from "../../src/browser/page/source/skill-source.ts";
import type { SkillList } from "../../src/browser/wire/skills.ts";

/** A source whose skills the test decides: names and descriptions. */
export interface OpenSource {
  readonly source: BrowserSkillSource;
  readonly put: (name: string, description: string) => void;
  readonly remove: (name: string) => void;
}

/** The contract of `SkillSource`, run by every adapter. `open` returns one with two skills, `b` and `a`. */
export function describeSkillSource(adapter: string, open: () => Promise<OpenSource>): void {
  const using = async (check: (opened: OpenSource) => Promise<void>): Promise<void> => {
    const opened = await open();
    try {
      await check(opened);
    } finally {
      opened.source.close();
    }
  };

  describe(`${adapter} implements the SkillSource contract`, () => {
    it("lists skills in the order of names, and is live then", () =>
      using(async ({ source }) => {
        expect(namesOf(await listed(source, () => true))).toEqual(["a", "b"]);
        await until(() => source.connection.value === "live");
      }));

    it("replaces the list at a change, and keeps the rows that did not change", () =>
      using(async ({ source, put }) => {
        await until(() => source.connection.value === "live");
        const before = await listed(source, ({ skills }) => skills.length === 2);
        put("aa", "New.");
        const after = await listed(source, ({ skills }) => skills.length === 3);
        expect(namesOf(after)).toEqual(["a", "aa", "b"]);
        expect(after.revision).toBeGreaterThan(before.revision);
        expect(after.skills[0]).toBe(before.skills[0]);
        expect(namesOf(before)).toEqual(["a", "b"]);
      }));

    it("shows edits and removals", () =>
      using(async ({ source, put, remove }) => {
        await until(() => source.connection.value === "live");
        put("a", "Edited.");
        await listed(source, ({ skills }) => skills[0]?.description === "Edited.");
        remove("a");
        expect(namesOf(await listed(source, ({ skills }) => skills.length === 1))).toEqual(["b"]);
      }));

    it("knows at least the row of a skill that it lists, and nothing of others", () =>
      using(async ({ source }) => {
        const { skills } = await listed(source, () => true);
        expect((await source.detail("a", ["overview"]))?.row).toEqual(skills[0]);
        expect(await source.detail("no-such-skill", ["overview"])).toBeUndefined();
      }));

    it("changes nothing after it was closed", () =>
      using(async ({ source, put }) => {
        const before = await listed(source, () => true);
        await until(() => source.connection.value === "live");
        source.close();
        put("c", "Too late.");
        source.close();
        expect(source.list.value).toBe(before);
      }));
  });
}

async function listed(source: BrowserSkillSource, isExpected: (list: SkillList) => boolean): Promise<SkillList> {
  await until(() => source.list.value !== undefined && isExpected(source.list.value));
  if (source.list.value === undefined) throw new Error("There is no list.");
  return source.list.value;
}

async function until(isSo: () => boolean): Promise<void> {
  let stop = (): void => undefined;
  await new Promise<void>((resolve) => {
    stop = effect(() => {
      if (isSo()) resolve();
    });
  });
  stop();
}

function namesOf({ skills }: SkillList): readonly string[] {
  return skills.map(({ name }) => name);
}
