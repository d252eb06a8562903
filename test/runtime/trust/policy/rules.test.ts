import * as fc from "fast-check";
import { expect, test } from "vitest";
import { deniesUrl, hostsContain, hostsOverlap, isHostRule } from "../../../../src/runtime/trust/policy/rules.ts";

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
