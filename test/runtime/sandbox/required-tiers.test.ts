import { expect, test } from "vitest";
import { missingTier } from "../../contract/sandbox/required-tiers.ts";

test("skipping a required tier is an error that names the reason", () => {
  expect(missingTier("landlock", "The kernel has no Landlock.", "bubblewrap,landlock")).toBe(
    "ACP_SKILLS_REQUIRED_TIERS requires the tier landlock, which is not available: The kernel has no Landlock.",
  );
});

test.each(["", "bubblewrap"])("a tier that is not in %j may be skipped", (required) => {
  expect(missingTier("landlock", "none", required)).toBeUndefined();
});

test("an unknown tier in the list is an error", () => {
  expect(() => missingTier("landlock", "none", "landlok")).toThrow("names unknown tiers: landlok");
});
