import fc from "fast-check";
import { expect, test } from "vitest";
import { type LicenseLists, judgeLicense } from "../../../../src/runtime/trust/policy/judge-license.ts";

const copyleft = { denied: ["GPL-2.0", "GPL-3.0", "AGPL-3.0"] };
const permissive = { allowed: ["MIT", "Apache-2.0", "BSD-3-Clause"] };

/** For each: the license, the lists, and why it is denied; undefined if it is allowed. */
const judged: readonly (readonly [license: string, lists: LicenseLists, why: string | undefined])[] = [
  ["MIT", {}, undefined],
  ["unknown", {}, undefined],
  ["unspecified", {}, undefined],
  ["MIT", permissive, undefined],
  ["mit", { allowed: ["mit"] }, "does not allow licenses that are not recognized"],
  ["MIT", { allowed: ["mit"] }, undefined],
  ["ISC", permissive, "does not allow the license ISC"],
  ["unknown", permissive, "does not allow licenses that are not recognized"],
  ["unspecified", permissive, "does not allow skills without a license"],
  ["unspecified", { allowed: ["MIT", "unspecified"] }, undefined],
  ["unknown", { denied: ["unknown"] }, "denies licenses that are not recognized"],
  ["unspecified", { denied: ["unspecified"] }, "denies skills without a license"],
  ["MIT", { allowed: ["MIT"], denied: ["MIT"] }, "denies the license MIT"],
  ["LicenseRef-Proprietary", { denied: ["LicenseRef-Proprietary"] }, "denies the license LicenseRef-Proprietary"],
  ["not an expression", permissive, "does not allow licenses that are not recognized"],

  ["MIT OR GPL-3.0-only", permissive, undefined],
  ["GPL-3.0-only OR MIT", permissive, undefined],
  ["MIT OR GPL-3.0-only", copyleft, undefined],
  ["ISC OR Zlib", permissive, "does not allow the license ISC and does not allow the license Zlib"],
  ["MIT AND Apache-2.0", permissive, undefined],
  ["MIT AND GPL-3.0-only", permissive, "does not allow the license GPL-3.0-only"],
  ["MIT AND GPL-3.0-only", copyleft, "denies the license GPL-3.0-only"],
  ["MIT AND (GPL-3.0-only OR Apache-2.0)", permissive, undefined],
  ["MIT OR ISC AND Zlib", permissive, undefined],

  ["GPL-3.0-only", { denied: ["GPL-3.0"] }, "denies the license GPL-3.0-only"],
  ["GPL-3.0-or-later", { denied: ["GPL-3.0"] }, "denies the license GPL-3.0-or-later"],
  ["GPL-3.0", { denied: ["GPL-3.0-only"] }, "denies the license GPL-3.0"],
  ["GPL-3.0-or-later", { denied: ["GPL-3.0-only"] }, undefined],
  ["GPL-3.0-or-later", { denied: ["GPL-3.0+"] }, "denies the license GPL-3.0-or-later"],
  ["GPL-3.0", { allowed: ["GPL-3.0-only"] }, "does not allow the license GPL-3.0"],
  ["GPL-3.0", { allowed: ["GPL-3.0-only", "GPL-3.0-or-later"] }, undefined],
  ["GPL-3.0+", { allowed: ["GPL-3.0-or-later"] }, undefined],
  ["LGPL-3.0-only", { denied: ["GPL-3.0"] }, undefined],
  ["AGPL-3.0-only", { denied: ["GPL-3.0"] }, undefined],

  ["GPL-2.0-only WITH Classpath-exception-2.0", { allowed: ["GPL-2.0-only"] }, undefined],
  [
    "GPL-2.0-only WITH Classpath-exception-2.0",
    copyleft,
    "denies the license GPL-2.0-only WITH Classpath-exception-2.0",
  ],
  [
    "GPL-2.0-only WITH Classpath-exception-2.0",
    { denied: ["GPL-2.0"], allowed: ["GPL-2.0-only WITH Classpath-exception-2.0"] },
    undefined,
  ],
  [
    "GPL-2.0-only",
    { allowed: ["GPL-2.0-only WITH Classpath-exception-2.0"] },
    "does not allow the license GPL-2.0-only",
  ],
  [
    "Apache-2.0 WITH LLVM-exception",
    { denied: ["Apache-2.0 WITH LLVM-exception"] },
    "denies the license Apache-2.0 WITH LLVM-exception",
  ],
];

test.each(judged)("%s with %j: %s", (license, lists, why) => {
  expect(judgeLicense(license, lists)).toBe(why);
});

const ids = fc.constantFrom("MIT", "ISC", "Apache-2.0", "GPL-3.0", "GPL-3.0-only", "GPL-3.0-or-later", "unknown");
const lists = fc.record({ allowed: fc.option(fc.array(ids), { nil: undefined }), denied: fc.array(ids) });
const expressions = fc.letrec<{ whole: string; one: string }>((tie) => ({
  one: fc.constantFrom("MIT", "ISC", "Apache-2.0", "GPL-3.0", "GPL-3.0-only", "GPL-3.0-or-later"),
  whole: fc.oneof(
    { depthSize: "small" },
    tie("one"),
    fc.tuple(tie("whole"), fc.constantFrom("AND", "OR"), tie("whole")).map(([a, word, b]) => `(${a} ${word} ${b})`),
  ),
})).whole;

test("a longer list of denied licenses never allows more, nor a shorter list of allowed ones", () => {
  fc.assert(
    fc.property(expressions, lists, ids, (license, { allowed, denied }, another) => {
      if (judgeLicense(license, { allowed, denied }) === undefined) return;
      expect(judgeLicense(license, { allowed, denied: [...denied, another] })).toBeDefined();
      expect(judgeLicense(license, { allowed: allowed?.slice(1), denied })).toSatisfy(
        (why) => allowed === undefined || why !== undefined,
      );
    }),
  );
});

test("one side of OR is enough, and AND needs both", () => {
  fc.assert(
    fc.property(expressions, expressions, lists, (a, b, given) => {
      const [isA, isB] = [a, b].map((side) => judgeLicense(side, given) === undefined);
      expect(judgeLicense(`(${a}) OR (${b})`, given) === undefined).toBe(isA || isB);
      expect(judgeLicense(`(${a}) AND (${b})`, given) === undefined).toBe(isA && isB);
    }),
  );
});
