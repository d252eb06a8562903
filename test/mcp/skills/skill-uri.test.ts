import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromSkillUri, toSkillUri } from "../../../src/mcp/skills/skill-source.ts";

const slug = fc.stringMatching(/^[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,2}$/);
const segment = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .filter((text) => text !== "." && text !== ".." && !text.includes("/"));
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join("/"));

describe("skill:// URIs", () => {
  it("round-trip any file name", () => {
    fc.assert(
      fc.property(slug, path, (name, file) => {
        const uri = toSkillUri({ slug: name, path: file });
        expect(fromSkillUri(uri)).toEqual({ slug: name, path: file });
      }),
    );
  });

  it("are normalized URLs", () => {
    fc.assert(
      fc.property(slug, path, (name, file) => {
        const uri = toSkillUri({ slug: name, path: file });
        expect(new URL(uri).href).toBe(uri);
      }),
    );
  });

  it("never throw, and never decode a slash inside a segment", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          path.map((text) => `skill://a/${text}`),
        ),
        (text) => {
          const slashes = (value: string): number => value.split("/").length;
          const named = fromSkillUri(text);
          if (named !== undefined) expect(slashes(named.path)).toBeLessThanOrEqual(slashes(text));
        },
      ),
    );
  });

  it("of a skill's directory end with its slug", () => {
    expect(toSkillUri({ slug: "alpha", path: "" })).toBe("skill://alpha");
    expect(fromSkillUri("skill://alpha")).toEqual({ slug: "alpha", path: "" });
  });
});
