import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { digestOf } from "../../../src/skills/hash.ts";
import { formatList, parseList } from "../../../src/cluster/skills/pack-list.ts";
import { byCodePoint } from "../../../src/base/text/code-points.ts";

const sha256 = "a".repeat(64);
const segment = fc.oneof(
  fc.constantFrom("..", ".", "", "a", "b", "C:", ".git", "~", "\\", "\0", "con", "\u202e", "SKILL.md"),
  fc.string({ maxLength: 8, unit: "binary" }),
);
const place = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join("/"));

test("whatever paths a list has, those that are accepted lie in the directory, each once, and come back as they were", () => {
  fc.assert(
    fc.property(fc.uniqueArray(place, { maxLength: 4 }), (paths) => {
      const files = paths.toSorted(byCodePoint).map((one) => ({ path: one, size_bytes: 1, sha256 }));
      const digest = digestOf(files);
      const text = JSON.stringify(files.map((file) => [file.path, file.size_bytes, file.sha256]));
      let parsed;
      try {
        parsed = parseList(text, digest);
      } catch (error) {
        expect(error).toMatchObject({ code: "SOURCE_INVALID" });
        expect(() => formatList(files, digest)).toThrow();
        return;
      }
      expect(parsed).toEqual(files);
      expect(formatList(files, digest)).toBe(text);
      for (const file of parsed) {
        const resolved = path.resolve("/skill", file.path);
        expect(resolved).toBe(`/skill/${file.path}`);
        expect(path.win32.resolve("C:\\skill", file.path)).toBe(`C:\\skill\\${file.path.replaceAll("/", "\\")}`);
      }
    }),
    { numRuns: 500 },
  );
});
