import { expect, test } from "vitest";
import {
  codeRequirements,
  statedRequirements,
  statesRequirements,
} from "../../../src/skills/environment/requirements-of.ts";
import { type Requirement, describeDemand } from "../../../src/skills/environment/requirement.ts";
import { parseSkill } from "../../../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../../../src/skills/manifest/read-manifest.ts";

function parse(frontmatter: string, manifest?: string) {
  const head = Buffer.from(`---\nname: a\ndescription: Does a.\n${frontmatter}---\n`);
  const text = { directory: "/skills/a", expectedName: "a", file: "/skills/a/SKILL.md", head, whole: true };
  return parseSkill(text, manifest === undefined ? undefined : readManifest(manifest, "/skills/a/skill.toml"));
}

const say = (found: readonly Requirement[]): string[] =>
  found.map((one) => `${one.where.file} ${one.where.field}: ${describeDemand(one)}`);

test("joins compatibility and the keys of the frontmatter", () => {
  const { skill } = parse("compatibility: Requires git\nmetadata:\n  requires:\n    bins: [uv]\n");
  expect(statesRequirements(skill!)).toBe(true);
  expect(say(statedRequirements(skill!))).toEqual([
    "SKILL.md compatibility: Git",
    "SKILL.md metadata.requires.bins: uv",
  ]);
});

test("a skill without them states nothing", () => {
  const { skill } = parse("metadata:\n  author: someone\n");
  expect(statesRequirements(skill!)).toBe(false);
  expect(skill).not.toHaveProperty("requires");
  expect(statedRequirements(skill!)).toEqual([]);
});

test("the warning about a nested value says that its requirements are read", () => {
  const message = (frontmatter: string): string | undefined =>
    parse(frontmatter).findings.find(({ code }) => code === "metadata-nested-value")?.message;
  expect(message("metadata:\n  openclaw:\n    requires:\n      bins: [uv]\n")).toBe(
    "metadata.openclaw is not a string; only what it requires is read",
  );
  expect(message("metadata:\n  openclaw:\n    emoji: x\n")).toBe("metadata.openclaw is not a string; it is ignored");
});

test("reads what running the code of a manifest needs", () => {
  const { skill } = parse(
    "",
    [
      'name = "a.b"\nversion = "1.0.0"\ndescription = "Does a."\nkind = "action"',
      '[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"',
      '[permissions]\nnetwork = ["https://api.example.com"]\nsecrets = ["API_KEY"]',
      '[dependencies]\nskills = ["c.d@^1"]\n',
    ].join("\n"),
  );
  expect(say(codeRequirements(skill!))).toEqual([
    "skill.toml runtime: a sandbox with network access",
    "skill.toml permissions.network: network access to api.example.com",
    "skill.toml permissions.secrets: secret API_KEY",
    "skill.toml dependencies.skills: skill c.d@^1",
  ]);
});

test("reads the same permissions from metadata", () => {
  const { skill } = parse("metadata:\n  acp-skills-network: https://a.example.com\n  acp-skills-secrets: KEY\n");
  expect(say(codeRequirements(skill!))).toEqual([
    "SKILL.md metadata: a sandbox with network access",
    "SKILL.md metadata.acp-skills-network: network access to a.example.com",
    "SKILL.md metadata.acp-skills-secrets: secret KEY",
  ]);
});
