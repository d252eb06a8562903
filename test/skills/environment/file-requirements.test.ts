import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { interpreterOf, readFileRequirements } from "../../../src/skills/environment/file-requirements.ts";
import { describeDemand } from "../../../src/skills/environment/requirement.ts";
import { diskSkillBytes, diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";
import { offer } from "../../acp/memory-skillset.ts";

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
