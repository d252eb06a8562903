import fc from "fast-check";
import { expect, test } from "vitest";
import { toGitPatch } from "../../../../src/acp/service/ask/permission-request.ts";

/** Applies a patch of one hunk, and checks everything that it says of the old text. */
function apply(patch: string, before: string): string {
  const at = patch.indexOf("@@ ");
  const [header = "", ...body] = patch.slice(at).split(/(?<=\n)/);
  const [, from, oldCount, , newCount] = /^@@ -(\d+),(\d+) \+(\d+),(\d+) @@\n$/.exec(header)!.map(Number);
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const start = oldCount === 0 ? from! : from! - 1;
  const lines = body
    .join("")
    .replaceAll("\n\\ No newline at end of file\n", "\u0000")
    .match(/[^\n\u0000]*[\n\u0000]/g)!
    .map((line) => ({ sign: line[0], text: line.slice(1).replace("\u0000", "") }));
  const of = (signs: string): string[] => lines.filter(({ sign }) => signs.includes(sign!)).map(({ text }) => text);
  expect(of(" -")).toEqual(old.slice(start, start + oldCount!));
  expect(of(" +")).toHaveLength(newCount!);
  return [...old.slice(0, start), ...of(" +"), ...old.slice(start + oldCount!)].join("");
}

const text = fc
  .array(fc.constantFrom("a\n", "b\n", "- c\n", "\n", "no line break"), { maxLength: 12 })
  .map((lines) => lines.join(""));

test("makes patches that turn the old text into the new one", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      fc.pre(before !== after);
      expect(apply(toGitPatch("file.md", before, after), before)).toBe(after);
    }),
  );
});

test("shows three lines around a change", () => {
  const before = Array.from({ length: 20 }, (_, line) => `${line}\n`).join("");
  expect(toGitPatch("a.md", before, before.replace("10\n", "ten\n"))).toBe(
    "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -8,7 +8,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n",
  );
});

test("quotes a name that could look like a line of the patch", () => {
  expect(toGitPatch("a\n+++ b/other", "1\n", "2\n")).toContain('+++ "b/a\\n+++ b/other"\n');
});
