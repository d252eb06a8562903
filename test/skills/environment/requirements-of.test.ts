import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  codeRequirements,
  interpreterOf,
  readFileRequirements,
  statedRequirements,
} from "../../../src/skills/environment/requirements-of.ts";
import { type Requirement, describeDemand } from "../../../src/skills/environment/requirement.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";
import { parseSkill } from "../../../src/skills/manifest/parse-skill.ts";
import { readManifest } from "../../../src/skills/manifest/read-manifest.ts";
import { offer } from "../../acp/memory-skillset.ts";

function parse(frontmatter: string, manifest?: string) {
  const head = Buffer.from(`---\nname: a\ndescription: Does a.\n${frontmatter}---\n`);
  const text = { directory: "/skills/a", expectedName: "a", file: "/skills/a/SKILL.md", head, whole: true };
  return parseSkill(text, manifest === undefined ? undefined : readManifest(manifest, "/skills/a/skill.toml"));
}

const say = (found: readonly Requirement[]): string[] =>
  found.map((one) => `${one.where.file} ${one.where.field}: ${describeDemand(one)}`);

test("quotes compatibility, and reads the keys of the frontmatter", () => {
  const { skill } = parse(
    "compatibility: Requires git and Python 3.10+. Linux only.\nmetadata:\n  requires:\n    bins: [uv]\n",
  );
  expect(say(statedRequirements(skill!))).toEqual([
    'SKILL.md compatibility: "Requires git and Python 3.10+. Linux only."',
    "SKILL.md metadata.requires.bins: uv",
  ]);
});

test("a skill without them states nothing", () => {
  const { skill } = parse("metadata:\n  author: someone\n");
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

let directory = "";

beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-files-")));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function write(file: string, text = ""): void {
  const target = path.join(directory, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

async function read(): Promise<string[]> {
  const source = { files: diskSkillFiles(), bytes: diskSkillBytes() };
  const found = await readFileRequirements(offer("a", { directory }).skill, source);
  return found.map((requirement) => `${requirement.where.text}: ${describeDemand(requirement)}`);
}

test("reads the interpreters of scripts, one requirement each, and no other files", async () => {
  write("scripts/a.py");
  write("scripts/deep/b.py");
  write("scripts/c.sh");
  write("scripts/data.json");
  write("scripts/notes.md");
  write("scripts/a.constructor");
  write("scripts/run", "#!/usr/bin/env node\n");
  write("other/d.rb");
  expect(await read()).toEqual([
    "scripts/a.py and 1 more: Python",
    "scripts/c.sh: Bash",
    "scripts/run: Node.js",
    "scripts/c.sh: a sandbox with scripts in bash",
  ]);
});

test("reads the packages of code/requirements.txt", async () => {
  write("code/requirements.txt", "# these\nrequests>=2.31  # http\n\n--index-url https://example.com\npandas\r\n");
  expect(await read()).toEqual(["requests>=2.31, pandas: Python packages requests>=2.31, pandas"]);
  write("code/requirements.txt", Array.from({ length: 40 }, (_, index) => `p${index}`).join("\n"));
  expect((await read())[0]).toMatch(/p15, 24 more$/);
});

test("does not follow links out of the skill", async () => {
  const outside = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-outside-")));
  writeFileSync(path.join(outside, "x.rb"), "");
  symlinkSync(outside, path.join(directory, "scripts"));
  expect(await read()).toEqual([]);
  rmSync(outside, { recursive: true });
});

test.each([
  ["scripts/a.py", "", "Python"],
  ["scripts/a.mjs", "", "Node.js"],
  ["scripts/a.ps1", "", "pwsh"],
  ["scripts/a", "#!/bin/bash\n", "Bash"],
  ["scripts/a", "#!/usr/bin/env -S python3 -u\n", "Python"],
  ["scripts/a", "#!/usr/bin/env uv\n", "uv"],
  ["scripts/a", "#! /usr/bin/perl -w\n", "Perl"],
  ["scripts/a", "no first line", undefined],
  ["scripts/a", "#!/usr/bin/env ../x\n", undefined],
  ["scripts/a", "#!", undefined],
  ["scripts/a.txt", "#!/bin/bash\n", undefined],
  ["scripts/__proto__", "", undefined],
  ["scripts/x.constructor", "", undefined],
])("%s that starts with %j is run by %s", (file, head, name) => {
  expect(interpreterOf(file, head)?.[0]?.name).toBe(name);
});
