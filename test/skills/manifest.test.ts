import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byNewestVersion, isPrerelease } from "../../src/skills/manifest.ts";

describe("versions", () => {
  it("are sorted newest first by Semantic Versioning precedence", () => {
    const newestFirst = [
      "2.0.0",
      "1.10.0",
      "1.9",
      "v1.2.3",
      "1.0.0",
      "1.0.0-rc.1",
      "1.0.0-beta.11",
      "1.0.0-beta.2",
      "1.0.0-beta",
      "1.0.0-alpha.beta",
      "1.0.0-alpha.1",
      "1.0.0-alpha",
      "0.0.0",
      "latest",
      "",
    ];
    expect([...newestFirst].reverse().sort(byNewestVersion).slice(0, 13)).toEqual(newestFirst.slice(0, 13));
    expect([...newestFirst].reverse().sort(byNewestVersion).slice(13).sort()).toEqual(["", "latest"]);
  });

  it("are compared exactly for numbers of any length", () => {
    expect(["9007199254740993.0.0", "9007199254740992.0.0"].sort(byNewestVersion)[0]).toBe("9007199254740993.0.0");
  });

  it("are prereleases only by a prerelease tag", () => {
    expect(["1.0.0-rc.1", "v2-beta"].every(isPrerelease)).toBe(true);
    expect(["1.0.0", "2", "1.0.0+x-y", "latest"].some(isPrerelease)).toBe(false);
  });

  it("have a consistent total order for any text", () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^v?\d{1,3}(\.\d{1,3}){0,2}(-[a-z0-9.]{1,6})?$/));
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        expect(Math.sign(byNewestVersion(a, b))).toBe(0 - Math.sign(byNewestVersion(b, a)));
        const [x, y, z] = [a, b, c].sort(byNewestVersion);
        expect(byNewestVersion(x ?? "", z ?? "")).toBeLessThanOrEqual(0);
        expect(byNewestVersion(x ?? "", y ?? "")).toBeLessThanOrEqual(0);
      }),
    );
  });
});
