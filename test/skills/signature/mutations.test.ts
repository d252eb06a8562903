import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { type BundleVerifier, createBundleVerifier } from "../../../src/skills/signature/verify-bundle.ts";
import { openAuthorities } from "./authorities.ts";
import * as signed from "./signed-skills.ts";

/** In all; fewer, in each kind, would not be shown. */
const total = 10_000;

let verifier: BundleVerifier;
let digest: string;
let bundles: readonly string[];
const tried = new Map<string, number>();

beforeAll(async () => {
  const authorities = await openAuthorities();
  verifier = createBundleVerifier(authorities.rootText);
  ({ digest } = await signed.subjectOf());
  bundles = [
    await signed.keylessSigned(authorities),
    await signed.keySigned(),
    await signed.keySigned(signed.keyPair("ec")),
  ];
  for (const bundle of bundles) expect(verifier.verify(Buffer.from(bundle), digest).state).toBe("signed");
});

/** Counts a mutation, unless it is none. */
function refused(kind: string, before: string, after: string, of = digest): void {
  if (of === digest && isDeepStrictEqual(parsed(before), parsed(after))) return;
  tried.set(kind, (tried.get(kind) ?? 0) + 1);
  const verdict = verifier.verify(Buffer.from(after), of);
  expect(verdict.state, `${kind}\n${before}\n${after}`).toBe("invalid");
}

/** What a text says; texts that say the same are no mutations. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

type Json = Record<string, unknown>;

/** Each value of a document, with a way to replace it. */
function placesIn(
  value: unknown,
): { readonly path: string; readonly value: unknown; set(next: unknown): void; remove(): void }[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as Json).flatMap(([key, inner]) => [
    {
      path: key,
      value: inner,
      set: (next: unknown) => {
        (value as Json)[key] = next;
      },
      remove: () => {
        if (Array.isArray(value)) value.splice(Number(key), 1);
        else Reflect.deleteProperty(value, key);
      },
    },
    ...placesIn(inner).map((place) => ({ ...place, path: `${key}.${place.path}` })),
  ]);
}

const isBytes = (text: string): boolean => text.length >= 8 && Buffer.from(text, "base64").toString("base64") === text;

const choice = fc.record({ bundle: fc.nat(2), place: fc.nat(), at: fc.nat(), to: fc.nat(255) });

test("no change of a character of a bundle is accepted", () => {
  fc.assert(
    fc.property(choice, ({ bundle: which, at, to }) => {
      const bundle = bundles[which]!;
      const place = at % bundle.length;
      refused("character", bundle, bundle.slice(0, place) + String.fromCharCode(to) + bundle.slice(place + 1));
    }),
    { numRuns: total * 0.2 },
  );
});

test("no change of a byte in a statement, certificate, signature, key or log entry is accepted", () => {
  fc.assert(
    fc.property(choice, ({ bundle: which, place, at, to }) => {
      const bundle = bundles[which]!;
      const json = parsed(bundle);
      const texts = placesIn(json).filter((one) => typeof one.value === "string" && isBytes(one.value));
      const chosen = texts[place % texts.length]!;
      const bytes = Buffer.from(chosen.value as string, "base64");
      const offset = at % bytes.length;
      bytes[offset] = (bytes[offset]! + 1 + (to % 255)) % 256;
      chosen.set(bytes.toString("base64"));
      refused(`byte of ${chosen.path}`, bundle, JSON.stringify(json));
    }),
    { numRuns: total * 0.6 },
  );
});

test("no value of a bundle can be removed, replaced or doubled", () => {
  fc.assert(
    fc.property(choice, fc.jsonValue({ maxDepth: 1 }), ({ bundle: which, place, at }, value) => {
      const bundle = bundles[which]!;
      const json = parsed(bundle);
      const places = placesIn(json);
      const chosen = places[place % places.length]!;
      // Says nothing.
      if (isDeepStrictEqual(chosen.value, {})) return;
      if (at % 3 === 0) chosen.remove();
      else if (at % 3 === 1) chosen.set(value);
      else
        chosen.set(
          Array.isArray(chosen.value)
            ? [...(chosen.value as unknown[]), ...(chosen.value as unknown[])]
            : [chosen.value, chosen.value],
        );
      refused("value", bundle, JSON.stringify(json));
    }),
    { numRuns: total * 0.15 },
  );
});

test("no part of one bundle is accepted in another", async () => {
  const authorities = await openAuthorities();
  const foreign = [await signed.keylessSigned(authorities), await signed.keySigned(), bundles[0]!, bundles[1]!];
  fc.assert(
    fc.property(choice, fc.nat(3), ({ bundle: which, place }, other) => {
      const bundle = bundles[which]!;
      const json = parsed(bundle);
      const places = placesIn(json);
      const chosen = places[place % places.length]!;
      const replacement = placesIn(parsed(foreign[other]!)).find((one) => one.path === chosen.path);
      if (replacement === undefined) return;
      chosen.set(replacement.value);
      refused("part of another", bundle, JSON.stringify(json));
    }),
    { numRuns: total * 0.15 },
  );
});

test("no change of a file is accepted", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(2), fc.nat(), fc.nat(94), async (which, at, to) => {
      const text = signed.skillText();
      const place = at % text.length;
      const changed = text.slice(0, place) + String.fromCharCode(32 + to) + text.slice(place + 1);
      if (changed === text) return;
      const of = await signed.digestOf(signed.filesOf(undefined, changed));
      refused("file", bundles[which]!, bundles[which]!, of);
    }),
    { numRuns: total * 0.05 },
  );
});

test("more than 10,000 mutations were tried, and none was accepted", () => {
  const count = [...tried.values()].reduce((sum, one) => sum + one, 0);
  expect(count).toBeGreaterThan(total);
  expect([...tried.keys()].filter((kind) => kind.startsWith("byte of ")).length).toBe(7);
});
