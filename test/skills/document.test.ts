import fc from "fast-check";
import matter from "gray-matter";
import { afterEach, expect, test, vi } from "vitest";
import { decodeFrontmatter, findFrontmatter, isYaml } from "../../src/skills/manifest/frontmatter.ts";
import { withoutTags } from "../../src/base/text/unsafe-characters.ts";
import { readSkillDocument } from "../../src/skills/document.ts";
import { readYaml } from "../../src/skills/manifest/yaml.ts";
import { arbitrarySkillText } from "./arbitrary-frontmatter.ts";

vi.mock("gray-matter", async (importOriginal) => {
  const original = await importOriginal<{ default: typeof matter }>();
  return { default: vi.fn(original.default) };
});

afterEach(() => {
  expect("documentRan" in globalThis).toBe(false);
});

test("readSkillDocument returns the same frontmatter and body as the head reader", () => {
  let found = 0;
  fc.assert(
    fc.property(arbitrarySkillText, (text) => {
      const bytes = Buffer.from(text);
      const place = findFrontmatter(bytes, true);
      const { frontmatter, body } = readSkillDocument(text);
      if (place.kind !== "found" || !isYaml(place.language)) {
        expect({ frontmatter, body }).toEqual({ frontmatter: {}, body: withoutTags(text.replace(/^\ufeff/, "")) });
        return;
      }
      found++;
      expect(body).toBe(withoutTags(bytes.toString("utf8", place.bodyStart)));
      expect(frontmatter).toEqual(readYaml(decodeFrontmatter(bytes, place.start, place.end).text).values);
    }),
    { numRuns: 1500 },
  );
  expect(found).toBeGreaterThan(200);
});

test.each([
  ["---\nname: a\n---\nbody\n", "body\n"],
  ["---\nname: a\n---\n\n\nbody", "\n\nbody"],
  ["---\r\nname: a\r\n---\r\n\r\nbody\r\n", "\r\nbody\r\n"],
  ["\ufeff---\nname: a\n--- \t\nbody", "body"],
  ["---\n\ufeff---\n body", " body"],
  ["---\n\ufeffname: a\n---\nbody", "body"],
  ["---\nname: a\n---", ""],
  ["---\n---\nbody", "body"],
  ["---\nname: a\n----\n---\nbody\n---\nmore", "body\n---\nmore"],
])("returns everything after the closing fence as the body: %j", (text, body) => {
  expect(readSkillDocument(text).body).toBe(body);
});

test("reads a line as a key where only gray-matter sees a comment", () => {
  expect(readSkillDocument("---\n\u00a0# :\n---\n")).toEqual({ frontmatter: { "\u00a0#": "" }, body: "" });
});

test("reads frontmatter with long runs of whitespace without gray-matter, which takes quadratic time", () => {
  const text = `---\nname: a\n${"\n".repeat(160_000)}---\nbody`;
  expect(readSkillDocument(text)).toEqual({ frontmatter: { name: "a" }, body: "body" });
});

test("passes no text to gray-matter that would take more than linear time", () => {
  const blank = fc.constantFrom("\n", "\r\n", " ", "\t", "\u2028", "\u00a0", "\ufeff");
  const run = fc.tuple(blank, fc.integer({ min: 1, max: 200 })).map(([text, count]) => text.repeat(count));
  const source = fc.array(fc.oneof(run, fc.constantFrom("a: b\n", "# c\n", "x")), { maxLength: 12 });
  vi.mocked(matter).mockClear();
  fc.assert(
    fc.property(source, (parts) => {
      readSkillDocument(`---\n${parts.join("")}\n---\nbody`);
    }),
  );
  const given = vi.mocked(matter).mock.calls.flatMap(([text]) => (typeof text === "string" ? text : []));
  for (const text of given) expect(steps(text)).toBeLessThanOrEqual(64 * text.length);
  expect(given.length).toBeGreaterThan(10);
});

/** The steps of a regular expression that tries each run of whitespace from every line start in it. */
function steps(text: string): number {
  let sum = 0;
  for (const [run] of text.matchAll(/\s+/g)) sum += run.length * run.split(/[\n\r\u2028\u2029]/).length;
  return sum;
}

test("removes Unicode tags from the body", () => {
  expect(readSkillDocument("---\nname: a\n---\nhid\u{e0041}den").body).toBe("hidden");
  expect(readSkillDocument("hid\u{e0041}den").body).toBe("hidden");
});

test.each(["js", "yaml js", "\u00a0js"])("detects a language far after the opening fence: %j", (language) => {
  const text = `---${" ".repeat(100)}${language}\n(globalThis.documentRan = true, {})\n---\nbody`;
  expect(readSkillDocument(text)).toEqual({ frontmatter: {}, body: text });
});

test.each(["js", "javascript", "JavaScript", "json", "coffee", "cson", "toml", "constructor", "__proto__", "toString"])(
  "neither runs nor reads frontmatter in %s",
  (language) => {
    const text = `---${language}\n(globalThis.documentRan = true, { name: "x" })\n---\nbody`;
    expect(readSkillDocument(text)).toEqual({ frontmatter: {}, body: text });
  },
);
