import { describe, expect, test } from "vitest";
import { parseMarkdown } from "../../../../../src/browser/page/detail/markdown/parse-markdown.ts";

describe("a text made to keep marked busy", () => {
  const size = 131_072;
  const repeated = (text: string): string => text.repeat(Math.ceil(size / text.length)).slice(0, size);
  const paragraphs = (text: string): string => repeated(`${text.repeat(Math.floor(8_000 / text.length))}\n\n`);
  const wide = `|${"a|".repeat(500)}\n|${"-|".repeat(500)}\n`;

  test.each([
    ["quotes in quotes", repeated("> ")],
    ["lists in lists", repeated("1. ")],
    ["brackets", paragraphs("[")],
    ["emphasis", paragraphs("_a")],
    ["addresses of mail", `${repeated("a.")}@`],
    ["lazy lines", repeated("> a\nb\n")],
    ["empty items", repeated("-\n")],
    ["rows of a wide table", wide + repeated("|\n")],
    ["definitions", repeated("[a]: b\n")],
    ["one long word", repeated("a")],
    ["backticks", repeated("`a``b")],
  ])("%s: is parsed or given up in time", (_, text) => {
    const started = performance.now();
    const parsed = parseMarkdown(text);
    expect(performance.now() - started).toBeLessThan(3_000);
    if (parsed !== undefined) expect(JSON.stringify(parsed).length).toBeLessThan(100 * size);
  });

  test("is given up when its time is over, and when it is nested too deep", () => {
    let time = 0;
    expect(parseMarkdown("a\n\nb", { durationMs: 1 }, () => time++)).toBeUndefined();
    expect(parseMarkdown("> ".repeat(30) + "a")).toBeUndefined();
  });

  test("keeps a paragraph that is too long as plain text", () => {
    const text = "*a* ".repeat(10).trim();
    const [paragraph] = parseMarkdown(text, { paragraphCharacters: 20 }) ?? [];
    expect(paragraph).toMatchObject({ type: "paragraph", tokens: [{ type: "text", text }] });
  });
});
