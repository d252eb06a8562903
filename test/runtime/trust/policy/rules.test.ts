import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type LicenseLists,
  deniesUrl,
  hostsContain,
  hostsOverlap,
  isHostRule,
  judgeLicense,
} from "../../../../src/runtime/trust/policy/rules.ts";

test.each([
  "x.org",
  "*.x.org",
  "https://x.org",
  "http://*.x.org:8080",
  "127.0.0.1",
  "[::1]",
  "X.ORG.",
  "*",
  "localhost:80",
])("%s is valid", (entry) => {
  expect(isHostRule(entry)).toBe(true);
});

test.each([
  "",
  "x.org/y",
  "ftp://x.org",
  "a.*.org",
  "*.*",
  "2130706433",
  "0x7f.1",
  "*.127.0.0.1",
  "x .org",
  "u@x.org",
  "x.org:0",
  "[::1",
])("%s is not valid", (entry) => {
  expect(isHostRule(entry)).toBe(false);
});

test.each([
  ["x.org", "https://X.org.", true],
  ["x.org", "https://a.x.org", false],
  ["x.org", "https://*.x.org", false],
  ["*.x.org", "https://a.b.x.org", true],
  ["*.x.org", "https://*.x.org", true],
  ["*.x.org", "https://*.b.x.org", true],
  ["*.x.org", "https://x.org", false],
  ["*.x.org", "https://evilx.org", false],
  ["https://x.org", "https://x.org:443", true],
  ["https://x.org", "http://x.org", false],
  ["https://x.org", "https://x.org:8443", false],
  ["x.org:8443", "https://x.org:8443", true],
  ["*", "http://127.0.0.1:8080", true],
  ["[0:0::1]", "http://[::1]:80", true],
  ["x.org", "https://x.org@evil.org", false],
])("%s contains %s: %s", (rule, asked, contained) => {
  expect(hostsContain(rule, asked)).toBe(contained);
});

test.each([
  ["a.x.org", "https://*.x.org", true],
  ["*.x.org", "https://*.a.x.org", true],
  ["*.a.x.org", "https://*.x.org", true],
  ["x.org", "https://*.x.org", false],
  ["http://x.org", "https://x.org", false],
  ["y.org", "https://*.x.org", false],
  ["y.org", "not a host", true],
])("%s overlaps with %s: %s", (rule, asked, overlaps) => {
  expect(hostsOverlap(rule, asked)).toBe(overlaps);
});

test("what contains hosts also overlaps with them", () => {
  const host = fc.constantFrom("x.org", "a.x.org", "*.x.org", "*.a.x.org", "y.org", "127.0.0.1");
  const rule = fc
    .tuple(fc.constantFrom("", "https://", "http://"), host, fc.constantFrom("", ":443", ":80"))
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(rule, rule, (one, other) => {
      if (hostsContain(one, other)) expect(hostsOverlap(one, other)).toBe(true);
      expect(hostsOverlap(one, other)).toBe(hostsOverlap(other, one));
    }),
  );
});

const rule = "https://github.com/evil/skills";

test.each([
  "https://github.com/evil/skills",
  "https://github.com/evil/skills.git",
  "https://github.com/Evil/SKILLS.git",
  "https://www.github.com/evil/skills/",
  "http://github.com:80/evil/skills",
  "ssh://git@github.com/evil/skills.git",
  "https://user:key@github.com//evil//skills",
  "https://github.com./evil/skills",
  "https://github.com/%65vil/skills",
  "https://github.com/evil/skills/tree/main/pdf",
])("%s is what is denied, spelt otherwise", (url) => {
  expect(deniesUrl(rule, url)).toBe(true);
});

test.each([
  "https://github.com/evil/skills2",
  "https://github.com/evil",
  "https://github.com.evil.org/evil/skills",
  "no URL",
])("%s is something else", (url) => expect(deniesUrl(rule, url)).toBe(false));

test("a port in a rule is for that port, a rule without a path for the whole host", () => {
  expect(deniesUrl("https://x.org:8443", "https://x.org/a")).toBe(false);
  expect(deniesUrl("https://x.org:8443", "https://x.org:8443/a")).toBe(true);
  expect(deniesUrl("https://x.org", "https://x.org:8443/a")).toBe(true);
});

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
