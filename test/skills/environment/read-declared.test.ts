import fc from "fast-check";
import { expect, test } from "vitest";
import { readDeclared } from "../../../src/skills/environment/read-declared.ts";
import { describeDemand } from "../../../src/skills/environment/requirement.ts";

const read = (values: Record<string, unknown>): string[] | undefined =>
  readDeclared(values)?.map((requirement) => `${requirement.where.field}: ${describeDemand(requirement)}`);

test.each([
  [
    { metadata: { requires: { bins: ["uv", "git"], env: ["API_KEY"] } } },
    [
      "metadata.requires.bins: uv",
      "metadata.requires.bins: git",
      "metadata.requires.env: environment variable API_KEY",
    ],
  ],
  [
    { metadata: { openclaw: { requires: { anyBins: ["docker", "podman"] }, os: ["darwin", "linux"] } } },
    ["metadata.openclaw.requires.anyBins: docker or podman", "metadata.openclaw.os: macOS or Linux"],
  ],
  [{ metadata: { requires: { bins: ["python3>=3.10"] } } }, ['metadata.requires.bins: "python3>=3.10"']],
  [{ metadata: { requires: { config: ["browser.enabled"] } } }, ['metadata.requires.config: "browser.enabled"']],
  [{ metadata: { requires: "git, Python 3.10+, a token" } }, ['metadata.requires: "git, Python 3.10+, a token"']],
  [{ requires: ["git", "network"] }, ['requires: "git, network"']],
  [
    { platforms: ["macos"], prerequisites: { commands: ["osascript"], env_vars: ["A_KEY"] } },
    ["platforms: macOS", "prerequisites.commands: osascript", "prerequisites.env_vars: environment variable A_KEY"],
  ],
  [
    { required_environment_variables: [{ name: "A_KEY", prompt: "key" }] },
    ["required_environment_variables: environment variable A_KEY"],
  ],
  [{ platforms: ["slack", "discord"] }, ['platforms: "slack, discord"']],
  [{ dependencies: ["torch>=2", "transformers"] }, ['dependencies: "torch>=2, transformers"']],
])("reads %j", (values, expected) => {
  expect(read(values)).toEqual(expected);
});

test.each([
  {},
  { metadata: { author: "someone", clawdbot: { emoji: "x" } } },
  { metadata: { openclaw: { os: ["darwin", "linux", "win32"] } } },
  { dependencies: [] },
  { metadata: { requires: {} } },
  { metadata: "requires: git" },
])("finds nothing in %j", (values) => {
  expect(read(values)).toBeUndefined();
});

test("does not take a text that cannot be a command for a program", () => {
  for (const bin of ["../evil", "a b", "-x", "/bin/sh", "a;b", "$(x)", "", "x".repeat(65)]) {
    const found = readDeclared({ metadata: { requires: { bins: [bin] } } }) ?? [];
    expect(found.every(({ kind }) => kind === "text")).toBe(true);
  }
});

test("never throws, and finds at most 32 requirements, each without control characters", () => {
  const keys = fc.constantFrom(
    "requires",
    "metadata",
    "bins",
    "anyBins",
    "env",
    "os",
    "platforms",
    "openclaw",
    "prerequisites",
    "commands",
    "__proto__",
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.string({ unit: "binary" }),
      fc.array(tie("value")),
      fc.dictionary(keys, tie("value")),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(keys, value), (values) => {
      const found = readDeclared(values) ?? [];
      expect(found.length).toBeLessThanOrEqual(32);
      for (const { where } of found) expect(where.text).not.toMatch(/[\u0000-\u0008\u001b\u202e]/);
    }),
  );
});
