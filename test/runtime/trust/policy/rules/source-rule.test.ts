import { expect, test } from "vitest";
import { deniesUrl } from "../../../../../src/runtime/trust/policy/rules/source-rule.ts";

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
