import { describe, expect, test } from "vitest";
import type { RemoteIndex, SourceReader } from "../../src/sources/reader.ts";
import type { Source } from "../../src/sources/source.ts";

export interface OpenReader {
  readonly reader: SourceReader;
  /** A source that offers the skills `alpha` and `beta`, each a SKILL.md with its name and an executable `scripts/run.sh`. */
  readonly source: Source;
  /** One that cannot be reached. */
  readonly unreachable: Source;
  readonly close?: () => Promise<void>;
}

/** The contract of `SourceReader`, run by every adapter. */
export function describeSourceReader(adapter: string, open: () => Promise<OpenReader>): void {
  const { signal } = new AbortController();

  async function using(check: (opened: OpenReader) => Promise<void>): Promise<void> {
    const opened = await open();
    try {
      await check(opened);
    } finally {
      await opened.reader.close();
      await opened.close?.();
    }
  }
  async function indexOf({ reader, source }: OpenReader): Promise<RemoteIndex> {
    const index = await reader.read(source, undefined, signal);
    if (index === undefined) throw new Error("It says that nothing changed to somebody who knows nothing.");
    return index;
  }

  describe(`${adapter} implements the SourceReader contract`, () => {
    test("lists the skills of a source by name, each with content that can be downloaded", () =>
      using(async (opened) => {
        const index = await indexOf(opened);
        expect(index.source).toEqual(opened.source);
        expect(index.skills.map(({ name }) => name)).toEqual(["alpha", "beta"]);
        for (const { content, description } of index.skills) {
          expect(["skill-md", "archive", "files", "git", "pinned"]).toContain(content.type);
          expect(description).not.toBe("");
        }
        expect(index.problems).toEqual([]);
        expect(index.isPartial).toBeUndefined();
      }));

    test("says that nothing changed, or lists the same, to somebody who knows what it was", () =>
      using(async (opened) => {
        const first = await indexOf(opened);
        const { etags, commit } = first;
        const before = { ...(etags && { etags }), ...(commit !== undefined && { commit }) };
        const second = await opened.reader.read(opened.source, before, signal);
        if (second !== undefined) expect(second.skills).toEqual(first.skills);
      }));

    test("downloads the files of a skill, with relative paths, the same each time", () =>
      using(async (opened) => {
        const [alpha] = (await indexOf(opened)).skills;
        if (alpha === undefined) throw new Error("There is no alpha.");
        const files = await opened.reader.skillFiles(alpha, signal);
        const byPath = new Map(files.map((file) => [file.path, file]));
        expect([...byPath.keys()].sort()).toEqual(["SKILL.md", "scripts/run.sh"]);
        expect(Buffer.from(byPath.get("SKILL.md")?.bytes ?? []).toString()).toContain("name: alpha");
        expect(byPath.get("scripts/run.sh")?.executable).toBe(true);
        const again = await opened.reader.skillFiles(alpha, signal);
        expect(again.map(({ path, bytes }) => [path, Buffer.from(bytes)])).toEqual(
          files.map(({ path, bytes }) => [path, Buffer.from(bytes)]),
        );
      }));

    test("rejects with a SkillsError for a source that cannot be reached", () =>
      using(async ({ reader, unreachable }) => {
        await expect(reader.read(unreachable, undefined, signal)).rejects.toMatchObject({
          code: expect.stringMatching(/^(ENDPOINT_UNREACHABLE|SOURCE_INVALID)$/) as string,
        });
      }));

    test("reads and downloads nothing for somebody who has stopped waiting", () =>
      using(async (opened) => {
        const [alpha] = (await indexOf(opened)).skills;
        if (alpha === undefined) throw new Error("There is no alpha.");
        const stopped = AbortSignal.abort();
        await expect(opened.reader.read(opened.source, undefined, stopped)).rejects.toThrow();
        await expect(opened.reader.skillFiles(alpha, stopped)).rejects.toThrow();
      }));

    test("can be closed twice", () =>
      using(async ({ reader }) => {
        await reader.close();
        await reader.close();
      }));
  });
}
