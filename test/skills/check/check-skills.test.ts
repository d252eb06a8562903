import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { findBodyFaults } from "../../../src/skills/manifest/check-document.ts";
import { checkSkillPaths } from "../../../src/skills/check/check-skills.ts";
import { diskSkillFiles } from "../../../src/skills/files/disk-skill-files.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(realpathSync(tmpdir()), "check-skills-"));
});
afterEach(() => {
  rmSync(cwd, { recursive: true });
});

function write(name: string, frontmatter: string): string {
  const file = path.join(cwd, "skills", name, "SKILL.md");
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `---\n${frontmatter}---\n\nBody\n`);
  return file;
}

test("reports problems with ranges and counts fixable ones without changing files", async () => {
  const file = write("pdf", "name: pdf\ndescription: Use when: needed\norigin: me\n");
  const before = readFileSync(file, "utf8");
  const { problems, checked, fixed, fixable, complaints } = await checkSkillPaths(["skills"], { cwd });
  expect({ checked, fixed, fixable, complaints }).toEqual({ checked: 1, fixed: [], fixable: 1, complaints: [] });
  expect(problems.map(({ code, line, column, endColumn }) => [code, line, column, endColumn])).toEqual([
    ["yaml-unquoted-colon", 3, 22, 24],
    ["field-unexpected", 4, 1, 7],
  ]);
  expect(problems[0]).toMatchObject({ file, message: "`: ` inside an unquoted value; quote the value" });
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("checks every skill, however long reading takes", async () => {
  for (let at = 0; at < 30; at++) write(`s${at}`, `name: s${at}\ndescription: Does.\n`);
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const disk = diskSkillFiles();
  const files = { ...disk, list: (directory: string) => ((now += 1_000), disk.list(directory)) };
  const { problems, counts } = await checkSkillPaths(["skills"], { cwd, files });
  expect({ problems, counts }).toMatchObject({ problems: [], counts: { checked: 30, complete: true } });
});

test("validates the cases of evals, as agents do and not as the specification, and notices when they change", async () => {
  const evals = path.join(path.dirname(write("pdf", "name: pdf\ndescription: Reads.\n")), "evals");
  const { stamp: before } = await checkSkillPaths(["skills"], { cwd });
  mkdirSync(evals);
  writeFileSync(path.join(evals, "evals.json"), '{"evals": [\n  {"prompt": "p", "assertions": [{"pattern": "("}]}]}');
  const { problems, stamp } = await checkSkillPaths(["skills"], { cwd });
  expect(problems).toMatchObject([
    {
      ...{ code: "evals-invalid", severity: "warning", file: path.join(evals, "evals.json"), line: 2, column: 46 },
      message: "evals/0/assertions/0/pattern: expected a regular expression",
    },
  ]);
  expect(stamp).not.toBe(before);
  expect((await checkSkillPaths(["skills"], { cwd, level: "spec" })).problems).toEqual([]);
});

test("with fix, repairs files and reports the remaining problems", async () => {
  const file = write("pdf", "name: pdf\ndescription: Use when: needed\norigin: me\n");
  const { problems, fixed, fixable } = await checkSkillPaths(["skills"], { cwd, fix: true });
  expect({ fixed, fixable }).toEqual({ fixed: [{ file, codes: ["yaml-unquoted-colon"] }], fixable: 0 });
  expect(problems.map(({ code }) => code)).toEqual(["field-unexpected"]);
  expect(readFileSync(file, "utf8")).toContain("description: 'Use when: needed'\n");
});

test("complains about a path without skills", async () => {
  mkdirSync(path.join(cwd, "empty"));
  expect(await checkSkillPaths(["empty"], { cwd })).toMatchObject({
    problems: [],
    checked: 0,
    complaints: ["no skills found in empty, empty/.agents/skills, empty/.claude/skills"],
  });
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "body-fault-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const faultsIn = (file: string) => findBodyFaults(file, diskSkillFiles());

function fileWith(bytes: string | Uint8Array): string {
  const file = path.join(directory, "SKILL.md");
  writeFileSync(file, bytes);
  return file;
}

test("accepts valid text of any length, wherever read blocks split its characters", () => {
  expect(faultsIn(fileWith("é😀文\n".repeat(200_000)))).toEqual([]);
  expect(faultsIn(fileWith("😀".repeat(200_000)))).toEqual([]);
  expect(faultsIn(fileWith(""))).toEqual([]);
});

test("reports the first invalid byte with its line and column", () => {
  const bytes = Buffer.concat([Buffer.from("---\nname: a\n---\n文字"), Buffer.from([0xe9]), Buffer.from("t\xe9\n")]);
  expect(faultsIn(fileWith(bytes))).toMatchObject([{ code: "invalid-utf8", line: 4, column: 3 }]);
});

test("finds an invalid byte after the first blocks", () => {
  const bytes = Buffer.concat([Buffer.from("line\n".repeat(300_000)), Buffer.from([0xff])]);
  expect(faultsIn(fileWith(bytes))).toMatchObject([{ line: 300_001, column: 1 }]);
});

test("reads only part of a huge file", () => {
  const file = fileWith("---\nname: a\n---\n");
  truncateSync(file, 2 * 1024 ** 3);
  expect(faultsIn(file)).toEqual([]);
});

test("reports nothing for a directory or a missing file", () => {
  expect(faultsIn(directory)).toEqual([]);
  expect(faultsIn(path.join(directory, "nothing"))).toEqual([]);
});

test("reports the first invisible character of the body, but none in frontmatter or emoji", () => {
  const text = "---\nname: a\u200b\n---\n👩‍💻 ⚠️\n文hid\u200bden\u{e0041}\n";
  expect(faultsIn(fileWith(text))).toMatchObject([{ code: "invisible-characters", line: 5, column: 5 }]);
  expect(faultsIn(fileWith(`${"line\n".repeat(300_000)}a\u2060b`))).toMatchObject([{ line: 300_001, column: 2 }]);
});
