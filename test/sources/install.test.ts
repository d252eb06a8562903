import { expect, it } from "vitest";
import { chooseSkills } from "../../src/sources/install.ts";
import type { RemoteIndex } from "../../src/sources/reader.ts";

it("says that a source offers no skills rather than naming none", () => {
  const index = { source: { label: "https://example.com" }, skills: [] } as unknown as RemoteIndex;
  expect(() => chooseSkills(index, ["csv-summary"])).toThrow(
    "https://example.com does not offer csv-summary; it offers no skills",
  );
});
