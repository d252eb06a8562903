import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ApprovalScope, ApprovalStore } from "../../src/runtime/trust/approvals.ts";
import type { CopiedFile } from "../../src/skills/files.ts";
import { adding, blockOf, digestOf, grantOf, removing } from "../runtime/trust/approvals/grant-of.ts";
import { type Approvals, maxBlocks, maxGrants } from "../../src/runtime/trust/approvals/scope-approvals.ts";

export interface OpenApprovals {
  readonly store: ApprovalStore;
  readonly close?: () => void;
}

const project = { project: "/home/ada/project" };
const other = { project: "/home/ada/other" };

const copied = (path: string, text: string): CopiedFile => ({
  path,
  sha256: createHash("sha256").update(text).digest("hex"),
  text,
});

const text = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
const texts = fc.array(text, { maxLength: 4 });
const digest = fc.stringMatching(/^sha256:[0-9a-f]{64}$/);
const time = fc
  .date({ min: new Date("2000-01-01"), max: new Date("2099-01-01"), noInvalidDate: true })
  .map((date) => date.toISOString());
const given = { who: text, when: time, via: text };
const grant = fc.record(
  {
    id: fc.stringMatching(/^grant_[0-9a-f]{16}$/),
    skill: text,
    version: text,
    digest,
    capabilities: fc.record(
      {
        network: texts,
        secrets: texts,
        project: fc.constantFrom("none", "read", "write"),
        isolation: fc.constant("none"),
      },
      { requiredKeys: ["network", "secrets", "project"] },
    ),
    calledBy: fc.record({ skill: text, digest }),
    expires: time,
    ...given,
  },
  { requiredKeys: ["id", "skill", "version", "digest", "capabilities", "who", "when", "via"] },
);
const approvals = fc.record(
  {
    grants: fc.array(grant, { maxLength: 5 }),
    blocks: fc.array(fc.record({ skill: text, from: fc.constantFrom("own", "project"), ...given }), { maxLength: 5 }),
    trusted: fc.record(given),
  },
  { requiredKeys: ["grants", "blocks"] },
) as fc.Arbitrary<Pick<Approvals, "grants" | "blocks" | "trusted">>;
const scope: fc.Arbitrary<ApprovalScope> = fc.oneof(
  fc.constant("everywhere" as const),
  text.map((path) => ({ project: `/${path}` })),
);

/** The contract of `ApprovalStore`, run by every adapter. Each call of `open` returns an empty store. */
export function describeApprovalStore(adapter: string, open: () => OpenApprovals): void {
  async function using(check: (store: ApprovalStore) => Promise<void>): Promise<void> {
    const { store, close } = open();
    try {
      await check(store);
    } finally {
      close?.();
    }
  }

  describe(`${adapter} implements the ApprovalStore contract`, () => {
    test("grants and blocks nothing before the first answer", () =>
      using(async (store) => {
        const nothing = { format: "acp-skills approvals 1", grants: [], blocks: [] };
        expect(await store.read("everywhere")).toEqual(nothing);
        expect(await store.read(project)).toEqual({ ...nothing, ...project });
        expect(await store.scopes()).toEqual([]);
      }));

    test("returns what was stored, for any content and scope", () =>
      using(async (store) => {
        await fc.assert(
          fc.asyncProperty(scope, approvals, async (where, { trusted, ...rest }) => {
            const stored = await store.change(where, () => ({
              format: "acp-skills approvals 1",
              ...rest,
              ...(trusted !== undefined && { trusted }),
            }));
            expect(stored).toEqual({
              format: "acp-skills approvals 1",
              ...(where !== "everywhere" && where),
              ...rest,
              ...(trusted !== undefined && { trusted }),
            });
            expect(await store.read(where)).toEqual(stored);
          }),
          { numRuns: 50 },
        );
      }));

    test("keeps scopes apart and lists them, everywhere first", () =>
      using(async (store) => {
        await store.change(project, adding(grantOf(1)));
        await store.change(other, adding(grantOf(2)));
        await store.change("everywhere", adding(grantOf(3)));
        expect((await store.read(project)).grants).toEqual([grantOf(1)]);
        expect((await store.read(other)).grants).toEqual([grantOf(2)]);
        expect((await store.read("everywhere")).grants).toEqual([grantOf(3)]);
        expect((await store.read({ project: "/home/ada" })).grants).toEqual([]);
        expect(await store.scopes()).toEqual(["everywhere", other, project]);
      }));

    test("names the project of a scope, whatever the change returns", () =>
      using(async (store) => {
        const stored = await store.change("everywhere", (before) => ({ ...before, ...project, grants: [grantOf(1)] }));
        expect(stored).toEqual({ format: "acp-skills approvals 1", grants: [grantOf(1)], blocks: [] });
        expect(await store.read("everywhere")).toEqual(stored);
        expect(await store.change(other, (before) => ({ ...before, ...project }))).toMatchObject(other);
        expect((await store.read(project)).grants).toEqual([]);
      }));

    test("loses nothing when many changes are requested at once", () =>
      using(async (store) => {
        const numbers = Array.from({ length: 20 }, (_, number) => number);
        await Promise.all(
          numbers.flatMap((number) => [
            store.change("everywhere", adding(grantOf(number))),
            store.change(project, adding(grantOf(100 + number))),
          ]),
        );
        await Promise.all(numbers.slice(0, 10).map((number) => store.change("everywhere", removing(number))));
        const ids = ({ grants }: Approvals): string[] => grants.map(({ id }) => id).sort();
        expect(ids(await store.read("everywhere"))).toEqual(numbers.slice(10).map((number) => grantOf(number).id));
        expect(ids(await store.read(project))).toEqual(numbers.map((number) => grantOf(100 + number).id));
      }));

    test("stores nothing where the change throws or returns what was there", () =>
      using(async (store) => {
        const refusal = new Error("No such grant.");
        await expect(
          store.change(project, () => {
            throw refusal;
          }),
        ).rejects.toBe(refusal);
        await store.change(project, (before) => before);
        expect(await store.scopes()).toEqual([]);
        await store.change(project, adding(grantOf(1)));
        expect((await store.read(project)).grants).toEqual([grantOf(1)]);
      }));

    test("stores nothing that could not be read again", () =>
      using(async (store) => {
        await store.change(project, adding(grantOf(1)));
        for (const bad of [{ digest: "sha256:12" }, { id: "1" }, { skill: "" }, { when: "yesterday" }])
          await expect(store.change(project, adding(grantOf(2, bad)))).rejects.toThrow();
        expect((await store.read(project)).grants).toEqual([grantOf(1)]);
      }));

    test("refuses more grants or blocks than the limit and keeps what it has", () =>
      using(async (store) => {
        const numbers = Array.from({ length: maxGrants }, (_, number) => number);
        await store.change(project, adding(...numbers.map((number) => grantOf(number))));
        await expect(store.change(project, adding(grantOf(maxGrants)))).rejects.toMatchObject({
          code: "QUOTA_EXCEEDED",
          message: "The approvals for the project /home/ada/project would be 2,001; the limit is 2,000.",
        });
        const blocks = Array.from({ length: maxBlocks + 1 }, (_, number) => blockOf(number));
        await expect(store.change("everywhere", (before) => ({ ...before, blocks }))).rejects.toMatchObject({
          code: "QUOTA_EXCEEDED",
          message: "The blocked skills for everywhere would be 1,001; the limit is 1,000.",
        });
        expect((await store.read(project)).grants).toHaveLength(maxGrants);
        await store.change(project, removing(0));
        await store.change(project, adding(grantOf(maxGrants)));
      }));

    test("returns approvals that nobody can change", () =>
      using(async (store) => {
        await store.change(project, adding(grantOf(1)));
        for (const found of [await store.read(project), await store.change(project, adding(grantOf(2)))]) {
          const [first] = found.grants as unknown as { capabilities: { network: string[] }; skill: string }[];
          expect(() => first?.capabilities.network.push("https://example.com")).toThrow(TypeError);
          expect(() => Object.assign(first ?? {}, { skill: "another" })).toThrow(TypeError);
          expect(() => (found.grants as unknown[]).push(grantOf(3))).toThrow(TypeError);
        }
        expect((await store.read(project)).grants).toEqual([grantOf(1), grantOf(2)]);
      }));

    describe("copies of approved versions", () => {
      test("are read by their digest", () =>
        using(async (store) => {
          const files = [
            copied("SKILL.md", "# grüße 🎉\r\n"),
            copied("empty", ""),
            { path: "a.png", sha256: "0".repeat(64) },
          ];
          await store.change(project, adding(grantOf(1)));
          await store.keepCopy(digestOf(1), files);
          await store.keepCopy(digestOf(1), files);
          expect(await store.readCopy(digestOf(1))).toEqual(files);
          expect(await store.readCopy(digestOf(2))).toBeUndefined();
        }));

      test("are never read or stored under anything but a digest", () =>
        using(async (store) => {
          for (const name of ["", "sha256:", "../everywhere", "sha256:../everywhere", digestOf(1).toUpperCase()]) {
            await store.keepCopy(name, [copied("SKILL.md", "text")]);
            expect(await store.readCopy(name)).toBeUndefined();
          }
        }));

      test("are removed when no grant of any scope names the digest any more", () =>
        using(async (store) => {
          await store.change(project, adding(grantOf(1), grantOf(2)));
          await store.change(other, adding(grantOf(1)));
          for (const number of [1, 2]) await store.keepCopy(digestOf(number), [copied("SKILL.md", String(number))]);
          await store.change(project, removing(1, 2));
          expect(await store.readCopy(digestOf(2))).toBeUndefined();
          expect(await store.readCopy(digestOf(1))).toEqual([copied("SKILL.md", "1")]);
          await store.change(other, removing(1));
          expect(await store.readCopy(digestOf(1))).toBeUndefined();
        }));

      test("have no text that is too long, exceeds the total, or is not that of the file", () =>
        using(async (store) => {
          const limit = 64 * 1024;
          const files = [
            copied("long", "x".repeat(limit + 1)),
            copied("long in bytes", "ü".repeat(limit / 2 + 1)),
            { ...copied("other", "one text"), text: "another text" },
            ...Array.from({ length: 9 }, (_, number) => copied(`full ${number}`, String(number).repeat(limit))),
            copied("small", "small"),
          ];
          await store.change(project, adding(grantOf(1)));
          await store.keepCopy(digestOf(1), files);
          const kept = (await store.readCopy(digestOf(1))) ?? [];
          expect(kept.map(({ path, sha256 }) => ({ path, sha256 }))).toEqual(
            files.map(({ path, sha256 }) => ({ path, sha256 })),
          );
          expect(kept.filter(({ text }) => text !== undefined).map(({ path }) => path)).toEqual(
            Array.from({ length: 8 }, (_, number) => `full ${number}`),
          );
        }));

      test("are not stored for versions with more files than a digest covers", () =>
        using(async (store) => {
          await store.change(project, adding(grantOf(1)));
          await store.keepCopy(
            digestOf(1),
            Array.from({ length: 4_097 }, (_, number) => ({ path: `${number}`, sha256: "0".repeat(64) })),
          );
          expect(await store.readCopy(digestOf(1))).toBeUndefined();
        }));
    });
  });
}
