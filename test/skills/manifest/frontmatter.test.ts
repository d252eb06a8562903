import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeFrontmatter, findFrontmatter } from "../../../src/skills/manifest/frontmatter.ts";

const find = (text: string, whole = true) => findFrontmatter(Buffer.from(text), whole);
const inner = (text: string) => {
  const bytes = Buffer.from(text);
  const found = findFrontmatter(bytes, true);
  return found.kind === "found" ? decodeFrontmatter(bytes, found.start, found.end).text : found.kind;
};

test.each([
  ["---\na: b\n---\nbody", "a: b\n"],
  ["---\r\na: b\r\n---\r\nbody", "a: b\r\n"],
  ["\ufeff---\na: b\n---\n", "a: b\n"],
  ["---\n\ufeffa: b\n---\n", "a: b\n"],
  ["---  \t\na: b\n--- \t\n", "a: b\n"],
  ["---\na: b\n---", "a: b\n"],
  ["---\n---\n", ""],
  ["---\na: x --- y\nb: |\n  ---\n----\n--- no\n---\n", "a: x --- y\nb: |\n  ---\n----\n--- no\n"],
  ["---\na: é 😀\n---\n", "a: é 😀\n"],
  ["# title\n---\na: b\n---\n", "missing"],
  ["\n---\na: b\n---\n", "missing"],
  [" ---\na: b\n---\n", "missing"],
  ["----\na: b\n---\n", "missing"],
  ["--", "missing"],
  ["", "missing"],
  ["---", "unclosed"],
  ["---\n", "unclosed"],
  ["---\na: b\n", "unclosed"],
  ["---\na: b\n ---\n", "unclosed"],
  ["---\na: b\n...\n", "unclosed"],
])("the frontmatter of %j is %j", (text, expected) => {
  expect(inner(text)).toBe(expected);
});

test.each([
  ["---js\na\n---\n", "js"],
  ["--- toml \r\na\n---\n", "toml"],
  ["---yaml\na\n---\n", "yaml"],
  ["---\na\n---\n", ""],
])("the language after the opening fence of %j is %j", (text, language) => {
  expect(find(text)).toMatchObject({ kind: "found", language });
});

test("does not accept a closing fence that may continue in the next bytes", () => {
  expect(find("---\na: b\n---", false)).toEqual({ kind: "incomplete" });
  expect(find("---\na: b\n---", true)).toMatchObject({ kind: "found" });
  expect(find("--", false)).toEqual({ kind: "incomplete" });
});

test("waits for more bytes if a byte order mark may continue", () => {
  const bytes = Buffer.from("\ufeff---\na: b\n---\n");
  for (const length of [0, 1, 2, 3]) {
    expect(findFrontmatter(bytes.subarray(0, length), false)).toEqual({ kind: "incomplete" });
  }
});

test("a head gives the same result as the whole file, or is incomplete", () => {
  const piece = fc.constantFrom("---", "\n", "\r\n", "a: b", " ", "-", "\ufeff", "js", "é", "----", "\n---\n");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(40), (pieces, length) => {
      const bytes = Buffer.from(pieces.join(""));
      const head = findFrontmatter(bytes.subarray(0, length), length >= bytes.length);
      if (head.kind !== "incomplete") expect(head).toEqual(findFrontmatter(bytes, true));
    }),
  );
});

test("offsets split a file into fences, frontmatter and body", () => {
  const text = "\ufeff---\r\na: é\r\n--- \r\nbody\r\n";
  const bytes = Buffer.from(text);
  const found = findFrontmatter(bytes, true);
  expect(found).toMatchObject({ kind: "found", byteOrderMark: true });
  if (found.kind !== "found") return;
  expect(bytes.toString("utf8", 0, found.start)).toBe("\ufeff---\r\n");
  expect(bytes.toString("utf8", found.end, found.bodyStart)).toBe("--- \r\n");
  expect(bytes.toString("utf8", found.bodyStart)).toBe("body\r\n");
});

test("replaces and reports invalid UTF-8, but not a literal replacement character", () => {
  const bad = Buffer.from([0x61, 0xe9, 0x62]);
  expect(decodeFrontmatter(bad, 0, 3)).toEqual({ text: "a\ufffdb", valid: false });
  expect(decodeFrontmatter(new Uint8Array(bad), 0, 3)).toEqual({ text: "a\ufffdb", valid: false });
  const good = Buffer.from("a\ufffdb");
  expect(decodeFrontmatter(good, 0, good.length)).toEqual({ text: "a\ufffdb", valid: true });
});
