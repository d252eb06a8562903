import { describe, expect, it } from "vitest";
import { findHidden } from "../../../../src/browser/server/detail/overview.ts";

describe("comments that are not seen", () => {
  it("are found over several lines, one after the other, and where they do not end", () => {
    const markdown = "a <!-- one\ntwo --> b <!-- three -->\nc\n<!-- four\nfive";
    expect(findHidden(markdown).map(({ text }) => text)).toEqual([
      "<!-- one\ntwo -->",
      "<!-- three -->",
      "<!-- four\nfive",
    ]);
  });

  it("are not looked for in fenced code", () => {
    expect(findHidden("```\n<!-- seen -->\n```\n<!-- not -->\n").map(({ text }) => text)).toEqual(["<!-- not -->"]);
  });

  it.each([
    ["without any", ""],
    ["in one that does not end", "<!--"],
    ["with one at the end", "", "<!-- end -->"],
  ])("do not take the square of the length of a text %s", (_what, before, after = "") => {
    const lines = `${before}${"ab\n".repeat(300_000)}${after}`;
    const start = performance.now();
    findHidden(lines);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
