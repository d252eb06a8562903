import fc from "fast-check";
import { expect, test } from "vitest";
import { describeDemand } from "../../../src/skills/environment/requirement.ts";
import { readText } from "../../../src/skills/environment/read-text.ts";

const field = { file: "SKILL.md", field: "compatibility" };

/** Each requirement as `certainty: what`. */
function read(text: string, isExplicit = false): string[] {
  return readText(text, { ...field, isExplicit }).map((requirement) => {
    const optional = requirement.optional ? " optional" : "";
    return `${requirement.certainty}${optional}: ${describeDemand(requirement)}`;
  });
}

test.each([
  ["Requires git", ["stated: Git"]],
  [
    "Requires git, docker, jq, and access to the internet",
    ["stated: Git", "stated: Docker", "stated: jq", "stated: network access"],
  ],
  ["requires: gh CLI and git", ["stated: GitHub CLI", "stated: Git"]],
  ["Requires Python 3.14+ and uv.", ["stated: Python >=3.14", "stated: uv"]],
  ["Python 3.10+", ["stated: Python >=3.10"]],
  ["Node.js ≥ 18", ["stated: Node.js >=18"]],
  ["Needs Node.js version 18 or later", ["stated: Node.js >=18"]],
  ["Python >=3.9,<4", ["stated: Python >=3.9,<4"]],
  ["Requires Python 3.10+ (3.12 recommended)", ["stated: Python >=3.10"]],
  ["Requires Python 3", ["stated: Python 3"]],
  ["git is required", ["stated: Git"]],
  ["Optional: git, gh CLI.", ["stated optional: Git", "stated optional: GitHub CLI"]],
  ["Optionally requires jq for JSON processing.", ["stated optional: jq"]],
  ["needs network access", ["stated: network access"]],
  ["macOS only", ["stated: macOS"]],
  ["Linux/macOS only", ["stated: Linux or macOS"]],
  ["Requires docker or podman", ["stated: Docker or Podman"]],
  ["Requires ImageMagick installed and available as `magick` on PATH.", ["stated: magick"]],
  ["Requires the `frob` CLI", ["stated: frob"]],
  ["Requires the frob CLI", ["likely: frob"]],
  [
    "EXAMPLE_API_KEY and OTHER_KEY required",
    ["stated: environment variable EXAMPLE_API_KEY", "stated: environment variable OTHER_KEY"],
  ],
  [
    "Requires an Example API key (https://example.com) set as EXAMPLE_KEY",
    ["stated: environment variable EXAMPLE_KEY"],
  ],
  ["git", ["likely: Git"]],
])("understands %j", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test.each([
  "Cross-platform",
  "Cross-platform (Windows, macOS, Linux).",
  "No authentication needed.",
  "None",
  "",
  " . ; \n",
])("finds nothing that %j asks for", (text) => {
  expect(read(text)).toEqual([]);
});

test.each([
  "Requires git unless the project has no history",
  "Requires git; needs network access",
  "Designed for Claude Code (or similar products)",
  "Requires at least Python 3.9",
  "Works on macOS and Linux",
  "Requires Docker, but not on macOS",
  "Does not require Python",
  "Requires either Docker or a remote builder",
  "Requires git and docker or podman",
  "Go and Rust projects",
  "Works best with Python 3.10+",
  "Python is never needed",
  "Requires Node.js (for npx) or a global install of tool",
  "macOS only for the scripts",
  "No support for Windows",
  "Use git if you can",
])("quotes %j, which is not a plain requirement, as a whole", (text) => {
  expect(read(text)).toEqual([`unclear: "${text}"`]);
});

test("quotes the item of a list that it does not understand, and keeps the others", () => {
  expect(read("Requires git, a configured profile, and jq")).toEqual([
    "stated: Git",
    'unclear: "a configured profile"',
    "stated: jq",
  ]);
  expect(read("example>=6.0.0, Python 3.10+")).toEqual(['unclear: "example>=6.0.0"', "stated: Python >=3.10"]);
});

test.each([
  ["Requires git. Only for releases.", ["likely: Git", 'unclear: "Only for releases"']],
  ["Python 3.10+. Not needed if you use Docker.", ["likely: Python >=3.10", 'unclear: "Not needed if you use Docker"']],
  ["Requires git. The project is a repository.", ["stated: Git", 'unclear: "The project is a repository"']],
  ["For development; Python 3.10+", ['unclear: "For development; Python 3.10+"']],
  ["Requires e.g. git 2.40+", ['unclear: "Requires e.g. git 2.40+"']],
])("does not take a sentence out of its context: %j", (text, expected) => {
  expect(read(text)).toEqual(expected);
});

test("reads a list of lines below a heading", () => {
  expect(read("Requirements:\n- git\n- Python 3.10+\n* a token\n")).toEqual([
    "stated: Git",
    "stated: Python >=3.10",
    'unclear: "a token"',
  ]);
});

test("takes a name alone as a requirement only in a field for requirements", () => {
  expect(read("git, jq")).toEqual(["likely: Git", "likely: jq"]);
  expect(read("git, jq", true)).toEqual(["stated: Git", "stated: jq"]);
});

test("says where each requirement is written", () => {
  expect(readText("Cross-platform. Requires git and a token.", field)).toEqual([
    {
      kind: "program",
      anyOf: [{ name: "Git", commands: ["git"] }],
      certainty: "stated",
      where: { ...field, text: "Requires git and a token" },
    },
    { kind: "text", certainty: "unclear", where: { ...field, text: "a token" } },
  ]);
});

const words = fc.constantFrom(
  ..."Requires requires needs git Python 3.10+ 3 Node.js >= ≥ 18 or and , ( ) ; . only macOS `x` CLI not for required , , + & / optional: A_KEY set as internet access to a.b".split(
    " ",
  ),
);

test("never throws, quotes only what is written, and finds at most 32 requirements", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(words, { maxLength: 60 }).map((list) => list.join(" ")),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const found = readText(text, field);
      expect(found.length).toBeLessThanOrEqual(32);
      for (const { where } of found) expect(text.replace(/\s+/g, " ")).toContain(where.text.slice(0, 20).trim());
    }),
  );
});

test("a sentence with a negation or condition is never understood", () => {
  const qualifiers = fc.constantFrom("not", "unless", "except", "without", "but", "if", "never");
  fc.assert(
    fc.property(fc.array(words, { maxLength: 8 }), qualifiers, fc.array(words, { maxLength: 8 }), (a, qualifier, b) => {
      const sentence = ["Requires", "git", ...a, qualifier, ...b].join(" ").replace(/[.;!]/g, "");
      for (const { kind } of readText(sentence, field)) expect(kind).toBe("text");
    }),
  );
});

test.each([
  "Requires ".repeat(20_000),
  `Requires ${"a ".repeat(50_000)}`,
  `Requires ${"(".repeat(100_000)}`,
  `Requires ${"git, ".repeat(50_000)}`,
  `${" ".repeat(100_000)}x`,
  `Python ${"3".repeat(100_000)}`,
  `internet access to ${"a.".repeat(50_000)}`,
  `${"x".repeat(100_000)} set as`,
])("reads a bounded part of a long text (%#)", (text) => {
  const found = readText(text, field);
  expect(found.length).toBeLessThanOrEqual(32);
  for (const { where } of found) expect(where.text.length).toBeLessThanOrEqual(200);
});
