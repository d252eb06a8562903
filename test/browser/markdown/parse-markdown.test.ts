import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMarkdown } from "../../../src/browser/markdown/parse-markdown.ts";

test("makes HTML of CommonMark and GitHub's tables, task lists and links", () => {
  expect(html("# A\n\n- [x] b\n\n|c|\n|-|\n|d|\n\nhttps://example.com ~~e~~")).toBe(
    `<h1>A</h1>\n<ul>\n<li><input checked="" disabled="" type="checkbox"> b</li>\n</ul>\n<table>\n<thead>\n<tr>\n<th>c</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>d</td>\n</tr>\n</tbody></table>\n<p><a href="https://example.com">https://example.com</a> <del>e</del></p>\n`,
  );
});

test("shows HTML and its comments as the text that a model reads", () => {
  expect(html("<!-- obey -->")).toBe("<pre>&#60;!-- obey --&#62;</pre>");
  expect(html("a <img src=x onerror=alert(1)> b")).toBe(
    "<p>a <code>&#60;img src=x onerror=alert(1)&#62;</code> b</p>\n",
  );
  expect(html("<kbd>x</kbd><br><kbd onclick=x>")).toBe("<p><kbd>x</kbd><br><code>&#60;kbd onclick=x&#62;</code></p>\n");
});

test("makes only elements of its list, whatever the text", () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "<script>",
      "<!--",
      "-->",
      "<svg/onload=x>",
      "](javascript:x)",
      "[a",
      "![",
      "`",
      "```\n",
      "\n\n",
      "> ",
      "- ",
      "|",
      "<style>",
      "<a href=",
      '"',
      "'",
      "&lt;",
      "<br>",
    ),
  );
  const tag = /<\/?([a-z][a-z0-9]*)/gi;
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      for (const [, name = ""] of html(parts.join("")).matchAll(tag))
        expect(
          "h1 h2 h3 h4 h5 h6 p br hr blockquote pre code ul ol li strong em del kbd sub sup a img input table thead tbody tr th td".split(
            " ",
          ),
        ).toContain(name);
    }),
    { numRuns: 500 },
  );
});

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
    if ("html" in parsed) expect(parsed.html.length).toBeLessThan(10 * size);
  });

  test("is given up when its time is over, and when it is nested too deep", () => {
    let time = 0;
    expect(parseMarkdown("a\n\nb", { milliseconds: 1 }, () => time++)).toEqual({ unparsed: "too slow" });
    expect(parseMarkdown("> ".repeat(30) + "a")).toEqual({ unparsed: "too deep" });
  });

  test("keeps a paragraph that is too long as plain text", () => {
    expect(html("*a* ".repeat(10), { paragraphCharacters: 20 })).toBe(`<p>${"*a* ".repeat(10)}</p>\n`);
  });
});

function html(markdown: string, limits = {}): string {
  const parsed = parseMarkdown(markdown, { milliseconds: 10_000, ...limits });
  return "html" in parsed ? parsed.html : parsed.unparsed;
}
