import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { checkSkills } from "../../src/index.ts";

test("returns the problems of skills as data with positions", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-checked-"));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  const file = path.join(directory, "pdf", "SKILL.md");
  mkdirSync(path.dirname(file));
  writeFileSync(file, "---\nname: PDF\ndescription: Reads PDF files.\n---\n");
  const { problems, checked } = await checkSkills(["pdf", "nowhere"], { cwd: directory });
  expect(checked).toBe(1);
  expect(problems).toContainEqual(expect.objectContaining({ file, line: 2, severity: "error" }));
  expect(problems.map((problem) => problem.file)).toContain(path.join(directory, "nowhere"));
});
