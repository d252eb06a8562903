import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { decodeFrontmatter, findFrontmatter, isYaml } from "../../src/skills/frontmatter.ts";
import { readSkillDocument } from "../../src/skills/skill-document.ts";
import { readYaml } from "../../src/skills/yaml.ts";
import { arbitrarySkillText } from "./arbitrary-frontmatter.ts";

afterEach(() => {
  expect("documentRan" in globalThis).toBe(false);
});

test("the whole-file reader and the reader of heads agree on frontmatter and body", () => {
  let found = 0;
  fc.assert(
    fc.property(arbitrarySkillText, (text) => {
      const bytes = Buffer.from(text);
      const place = findFrontmatter(bytes, true);
      const { frontmatter, body } = readSkillDocument(text);
      if (place.kind !== "found" || !isYaml(place.language)) {
        expect({ frontmatter, body }).toEqual({ frontmatter: {}, body: text.replace(/^\ufeff/, "") });
        return;
      }
      found++;
      expect(body).toBe(bytes.toString("utf8", place.bodyStart));
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
])("the body is everything below the closing fence: %j", (text, body) => {
  expect(readSkillDocument(text).body).toBe(body);
});

test("a line that only gray-matter takes for a comment is a key", () => {
  expect(readSkillDocument("---\n\u00a0# :\n---\n")).toEqual({ frontmatter: { "\u00a0#": "" }, body: "" });
});

test.each(["js", "javascript", "JavaScript", "json", "coffee", "cson", "toml", "constructor", "__proto__", "toString"])(
  "frontmatter in %s is never run and never read",
  (language) => {
    const text = `---${language}\n(globalThis.documentRan = true, { name: "x" })\n---\nbody`;
    expect(readSkillDocument(text)).toEqual({ frontmatter: {}, body: text });
  },
);
