import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { Problem } from "../../../../src/skills/rules/problem.ts";
import { fixFiles } from "../../../../src/skills/check/fix-files.ts";
import { sarifLog } from "../../../skills/check/sarif-log.ts";
import { runCli, startCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { replaceFile } from "../../../../src/base/paths/replace-file.ts";

const project = useTemporaryProject();
const fixtures = fileURLToPath(new URL("../../../fixtures/skills", import.meta.url));

async function check(...args: string[]) {
  return await runCli(["check", ...args], { cwd: project.directory });
}

async function problemsOf(...args: string[]) {
  const { code, stdout, stderr } = await check("--reporter", "json", ...args);
  const { problems, checked, fixed } = JSON.parse(stdout) as {
    problems: readonly Problem[];
    checked: number;
    fixed: readonly unknown[];
  };
  return { code, stderr, codes: problems.map(({ code: rule }) => rule), problems, checked, fixed };
}

const unquoted = "---\nname: pdf\ndescription: Use when: reading PDF\n---\nBody: stays\n";

test("exits with 0 for valid skills", async () => {
  project.write("skills/pdf/SKILL.md", skillText("pdf"));
  expect(await check("skills")).toEqual({
    code: 0,
    stdout: "1 skill checked: no problems\n",
    stderr: "",
  });
});

test("exits with 1 for an error and prints a code frame", async () => {
  project.write("skills/pdf/SKILL.md", skillText("PDF"));
  const { code, stdout, stderr } = await check("skills");
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(stdout).toContain(
    [
      "skills/pdf/SKILL.md:2:7 error name-not-lowercase",
      "  name `PDF` contains uppercase letters",
      "    1 | ---",
      "  > 2 | name: PDF",
      "      |       ^^^",
      "    3 | description: Does PDF. Use when PDF is asked for.",
      "  fix: Rename it to `pdf`.",
    ].join("\n"),
  );
  expect(stdout).toMatch(/\n1 error    name-not-lowercase\n1 skill checked: 1 error; 1 can be fixed with --fix\n$/);
});

test("shows advice of scanners beside our problems, as theirs, whatever it says: it decides nothing", async () => {
  project.write("skills/pdf/SKILL.md", skillText("pdf"));
  const log = sarifLog([{ uri: "skills/pdf/SKILL.md", line: 7, text: "Steals\u001b[2J keys", level: "error" }], "Scan");
  project.write("scan.sarif", JSON.stringify(log));
  const shown = await check("--advice", "scan.sarif");
  expect(shown).toMatchObject({ code: 0, stderr: "" });
  expect(shown.stdout).toContain(
    "Advice of others, which decides nothing here:\n  Scan: error rule-1 skills/pdf/SKILL.md:7: Steals [2J keys\n",
  );
  expect(shown.stdout).toContain("no problems");
  const { stdout } = await check("--advice", "scan.sarif", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ problems: [], advice: [{ tool: "Scan", line: 7 }] });
  project.write("old.sarif", '{"version":"2.0.0"}');
  for (const [file, why] of [
    ["old.sarif", 'old.sarif: its version is "2.0.0"; expected a SARIF 2.1.0 log'],
    ["none.sarif", "none.sarif cannot be read"],
  ] as const)
    expect(await check("--advice", file)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) as string });
});

test("says of a problem that it keeps a skill from being offered, and of others nothing", async () => {
  project.write("skills/pdf/SKILL.md", "---\nname: PDF\n---\nBody\n");
  const { stdout } = await check("skills");
  expect(stdout).toMatch(/^skills\/pdf\/SKILL\.md:2:1 error description-missing: the skill is not offered$/m);
  expect(stdout).toMatch(/^skills\/pdf\/SKILL\.md:2:7 error name-not-lowercase$/m);
});

test("reports a circular symbolic link, as a SKILL.md and as a PATH, and still checks the rest", async () => {
  project.write("skills/pdf/SKILL.md", skillText("PDF"));
  mkdirSync(project.at("skills", "circle"));
  symlinkSync("SKILL.md", project.at("skills", "circle", "SKILL.md"));
  const { code, problems } = await problemsOf("skills", "--level", "lenient");
  expect(code).toBe(1);
  expect(problems).toMatchObject([
    { code: "dangling-symlink", file: project.at("skills", "circle", "SKILL.md") },
    { code: "name-not-lowercase", file: project.at("skills", "pdf", "SKILL.md") },
  ]);
  symlinkSync("self", project.at("self"));
  expect(await check("self")).toEqual({
    code: 2,
    stdout: "",
    stderr: "acp-skills: self: symbolic link without a target\n",
  });
});

test("reports a PATH that cannot be accessed", async () => {
  const long = "n".repeat(300);
  expect(await problemsOf(long)).toMatchObject({ code: 2, problems: [{ code: "unreadable", file: project.at(long) }] });
});

test.skipIf(process.getuid?.() === 0)("reports files in a directory that can be listed but not entered", async () => {
  const file = project.write("skills/closed/SKILL.md", skillText("closed"));
  chmodSync(project.at("skills", "closed"), 0o600);
  const inside = await problemsOf("skills");
  const itself = await problemsOf("skills/closed/SKILL.md");
  chmodSync(project.at("skills", "closed"), 0o700);
  expect(inside).toMatchObject({ code: 1, problems: [{ code: "unreadable", file }] });
  expect(itself).toMatchObject({ code: 1, problems: [{ code: "unreadable", file }] });
});

test("reports every problem of one rule in a file, and each once if paths overlap", async () => {
  project.write("skills/sync/SKILL.md", skillText("sync"));
  project.write("skills/sync/skill.toml", 'kind = "instruction"\n');
  const { problems } = await problemsOf("skills", "skills/sync");
  expect(problems.map(({ message }) => message)).toEqual([
    "name is missing",
    "version is missing",
    "description is missing",
  ]);
});

test("exits with 0 for warnings only", async () => {
  project.write("skills/pdf/SKILL.md", skillText("PDF"));
  expect(await problemsOf("skills", "--level", "lenient")).toMatchObject({
    code: 0,
    problems: [{ severity: "warning" }],
  });
});

test("applies the rules of the level", async () => {
  project.write("skills/a/SKILL.md", skillText("a").replace("---\n\n", "version: 1\n---\n\n"));
  expect(await problemsOf("skills")).toMatchObject({ code: 0, codes: [] });
  expect(await problemsOf("skills", "--level", "spec")).toMatchObject({ code: 1, codes: ["field-unexpected"] });
  expect(await problemsOf("skills", "--level", "wire")).toMatchObject({ code: 0, codes: [] });
});

test.each([["skills/pdf/SKILL.md"], ["skills/pdf"], ["skills"], ["."], [""]])(
  "PATH %j may be a file, a skill's directory, or one that holds many",
  async (given) => {
    project.write("skills/pdf/SKILL.md", skillText("PDF"));
    const found = await problemsOf(...(given === "" ? [] : [given]));
    expect(found).toMatchObject({ code: 1, checked: 1, codes: ["name-not-lowercase"] });
  },
);

test("checks a SKILL.md without the skills below it", async () => {
  project.write("skills/pdf/SKILL.md", skillText("pdf"));
  project.write("skills/pdf/inner/SKILL.md", skillText("Wrong"));
  expect(await problemsOf("skills/pdf/SKILL.md")).toMatchObject({ code: 0, checked: 1, codes: [] });
  expect(await problemsOf("skills/pdf")).toMatchObject({ code: 1, checked: 2 });
});

test("checks a version's directory against the skill's name", async () => {
  project.write("skills/pdf/1.2.0/SKILL.md", skillText("pdf"));
  project.write("skills/pdf/1.3.0/SKILL.md", skillText("Pdf"));
  expect(await problemsOf("skills/pdf/1.2.0")).toMatchObject({ code: 0, checked: 1 });
  expect(await problemsOf("skills/pdf/1.2.0/SKILL.md")).toMatchObject({ code: 0, checked: 1 });
});

test("finds the project's own skills even if git ignores them", async () => {
  project.write(".gitignore", ".claude\n.agents\n");
  project.write(".claude/skills/pdf/SKILL.md", skillText("pdf"));
  project.write(".agents/skills/docx/SKILL.md", skillText("docx"));
  expect(await problemsOf()).toMatchObject({ code: 0, checked: 2, codes: [] });
});

test("counts skipped skills with reasons, in every reporter and in list", async () => {
  const deep = "1/2/3/4/5/6/7/8/9/10/11/12";
  project.write("skills/good/SKILL.md", skillText("good"));
  project.write(`skills/${deep}/deep/SKILL.md`, skillText("deep"));
  project.write(`skills/${deep}/13/14/deeper/SKILL.md`, skillText("deeper"));
  project.write("skills/.gitignore", "dist/\n");
  project.write("skills/dist/built/SKILL.md", skillText("built"));
  project.write("skills/half/skill.toml", "");
  const counts = {
    found: 5,
    checked: 1,
    notChecked: 4,
    complete: true,
    reasons: [
      { code: "manifest-alone", count: 1 },
      { code: "too-deep", count: 2 },
      { code: "skill-ignored", count: 1 },
    ],
  };
  const line = "found 5, checked 1, not checked 4 (1 skill.toml without SKILL.md, 2 too deep, 1 ignored by git)\n";
  const json = await check("skills", "--reporter", "json");
  expect(json.code).toBe(1);
  expect(JSON.parse(json.stdout)).toMatchObject({ counts });
  for (const reporter of ["pretty", "github", "sarif"]) {
    expect((await check("skills", "--reporter", reporter)).stderr).toBe(`acp-skills: ${line}`);
  }
  const list = ["list", "--no-default-roots", "--skills", "skills"];
  const table = await runCli(list, { cwd: project.directory });
  expect(table.stderr.endsWith(`acp-skills: ${line}`)).toBe(true);
  const listed = await runCli([...list, "--json"], { cwd: project.directory });
  expect(JSON.parse(listed.stdout)).toMatchObject({ counts });
});

test("reports a dangling symbolic link where a skill is expected, and ignores it elsewhere", async () => {
  project.write("tools/pdf/SKILL.md", skillText("pdf"));
  project.write("skills/docx/SKILL.md", skillText("docx"));
  mkdirSync(project.at("docs"));
  for (const link of ["latest", "docs/latest", "skills/notes.md", "skills/gone", "tools/gone"]) {
    symlinkSync("nowhere", project.at(link));
  }
  const { code, problems } = await problemsOf();
  expect(code).toBe(1);
  expect(problems.map(({ code: rule, file }) => `${rule} ${file}`)).toEqual([
    `dangling-symlink ${project.at("skills/gone")}`,
    `dangling-symlink ${project.at("tools/gone")}`,
  ]);
  expect(await problemsOf("docs", "skills/docx")).toMatchObject({ problems: [] });
});

test("exits with 2 if a PATH does not exist, and with 1 if it contains no skill", async () => {
  mkdirSync(project.at("empty"));
  project.write("notes.md", "");
  const missing = await problemsOf("missing");
  expect(missing).toMatchObject({
    code: 2,
    checked: 0,
    problems: [{ severity: "error", file: project.at("missing") }],
  });
  expect(await check("empty")).toEqual({
    code: 1,
    stdout: "",
    stderr: "acp-skills: no skills found in empty, empty/.agents/skills, empty/.claude/skills\n",
  });
  expect(await check("notes.md")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^acp-skills: notes.md: not a directory, and not a file named SKILL.md\n/) as string,
  });
});

test("reports duplicate names like a catalog of the given directories", async () => {
  project.write("one/skills/pdf/SKILL.md", skillText("pdf"));
  project.write("two/skills/pdf/SKILL.md", skillText("pdf"));
  expect(await problemsOf(".")).toMatchObject({
    code: 0,
    checked: 2,
    problems: [{ code: "skill-copy", severity: "note" }],
  });
  project.write("two/skills/documents/pdf/SKILL.md", skillText("pdf", "Another."));
  expect(await problemsOf("one")).toMatchObject({ code: 0, checked: 1, codes: [] });
  expect(await problemsOf(".")).toMatchObject({
    checked: 3,
    problems: [
      { code: "slug-qualified", severity: "note" },
      { code: "skill-copy", severity: "note" },
    ],
  });
  expect(await problemsOf("one", "two")).toMatchObject({ checked: 3, codes: ["slug-qualified", "skill-copy"] });
});

test("reports invalid UTF-8 in the body", async () => {
  const bytes = Buffer.concat([Buffer.from(skillText("pdf")), Buffer.from([0x63, 0xe9, 0x0a])]);
  project.write("skills/pdf/SKILL.md", bytes);
  expect(await problemsOf("skills")).toMatchObject({
    code: 1,
    problems: [{ code: "invalid-utf8", line: 9, column: 2 }],
  });
});

test("prints nothing but the report on stdout with the github and sarif reporters", async () => {
  project.write("skills/pdf/SKILL.md", skillText("PDF"));
  const github = await check("skills", "--reporter", "github");
  expect(github.stdout).toMatch(
    /^::error file=skills\/pdf\/SKILL\.md,line=2,col=7,endLine=2,endColumn=10,title=name-not-lowercase::name `PDF` contains uppercase letters\. .*\n/,
  );
  const missing = await check("nowhere", "--reporter", "github");
  expect(missing.stdout).toContain(`${project.at("nowhere")} does not exist. Create it, or name another directory.\n`);
  const sarif = await check("skills", "--reporter=sarif");
  expect(sarif).toMatchObject({ code: 1, stderr: "" });
  expect(JSON.parse(sarif.stdout)).toMatchObject({ version: "2.1.0", runs: [{ results: [{}] }] });
});

test("--fix edits in place, keeps mode and body, and is idempotent", async () => {
  const file = project.write("skills/pdf/SKILL.md", unquoted);
  chmodSync(file, 0o640);
  expect(await problemsOf("skills", "--fix")).toMatchObject({
    code: 0,
    codes: [],
    fixed: [{ file, codes: ["yaml-unquoted-colon"] }],
  });
  const text = readFileSync(file, "utf8");
  expect(text).toBe(unquoted.replace("Use when: reading PDF", "'Use when: reading PDF'"));
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(readdirSync(project.at("skills", "pdf"))).toEqual(["SKILL.md"]);
  expect(await problemsOf("skills", "--fix")).toMatchObject({ code: 0, fixed: [] });
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("--fix without a path changes only what is offered here, no backup beside it", async () => {
  const broken = "---\nname: Pdf\ndescription: Reads.\n---\n";
  const backup = project.write("backup/pdf/SKILL.md", broken);
  expect(await runCli(["check", "--fix"], { cwd: project.directory })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("name what to fix, such as check . --fix") as string,
  });
  const offered = project.write(".agents/skills/pdf/SKILL.md", broken);
  await runCli(["check", "--fix"], { cwd: project.directory });
  expect(readFileSync(offered, "utf8")).toContain("name: pdf");
  expect(readFileSync(backup, "utf8")).toBe(broken);
});

test("--fix follows a linked SKILL.md inside the given paths, and writes nothing outside them", async () => {
  const inside = project.write("skills/shared/pdf.md", unquoted);
  const outside = project.write("elsewhere/docx.md", unquoted.replace("pdf", "docx"));
  mkdirSync(project.at("skills", "pdf"));
  mkdirSync(project.at("skills", "docx"));
  symlinkSync("../shared/pdf.md", project.at("skills", "pdf", "SKILL.md"));
  symlinkSync("../../elsewhere/docx.md", project.at("skills", "docx", "SKILL.md"));
  const { code, stderr, fixed } = await problemsOf("skills", "--fix");
  expect(code).toBe(1);
  expect(fixed).toEqual([{ file: inside, codes: ["yaml-unquoted-colon"] }]);
  expect(stderr).toBe(`acp-skills: ${outside} was not fixed: it is outside the given paths\n`);
  expect(readFileSync(outside, "utf8")).toContain("description: Use when: reading");
});

test.skipIf(process.getuid?.() === 0 || process.platform === "win32")(
  "--fix explains why it cannot write a file",
  async () => {
    const file = project.write("skills/pdf/SKILL.md", unquoted);
    chmodSync(project.at("skills", "pdf"), 0o555);
    try {
      const { code, stderr } = await problemsOf("skills", "--fix");
      expect(code).toBe(1);
      expect(stderr).toBe(`acp-skills: ${file} was not fixed: this user may not write in its directory\n`);
    } finally {
      chmodSync(project.at("skills", "pdf"), 0o755);
    }
  },
);

test("--fix does not change the display name next to a skill.toml", async () => {
  const text = "---\nname: Leads\n---\n";
  const file = project.write("skills/leads/SKILL.md", text);
  project.write(
    "skills/leads/skill.toml",
    'name = "leads"\nversion = "1.0.0"\ndescription = "Leads."\nkind = "instruction"\n',
  );
  await check("skills", "--fix");
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("--fix over all fixtures removes problems, adds none, and is idempotent", async () => {
  cpSync(fixtures, project.at("fixtures"), { recursive: true });
  const before = await problemsOf("fixtures");
  const first = await problemsOf("fixtures", "--fix");
  expect(first.fixed.length).toBeGreaterThan(0);
  expect(first.problems.length).toBeLessThan(before.problems.length);
  const second = await problemsOf("fixtures", "--fix");
  expect(second.fixed).toEqual([]);
  expect(second.problems).toEqual(first.problems);
});

test("fixes files below the root directory /", async () => {
  const file = project.write("skills/pdf/SKILL.md", unquoted);
  const skill = { directory: project.at("skills", "pdf"), expectedName: "pdf", file };
  const { root } = path.parse(file);
  expect(await fixFiles([skill], [root], replaceFile)).toMatchObject({ fixed: [{ file }], refusals: [] });
});

test.each([[], ["--watch"]])("keeps its exit code if the reader closes stdout (%j)", async (...args) => {
  project.write("skills/pdf/SKILL.md", skillText("PDF"));
  const child = startCli(["check", "skills", ...args], { cwd: project.directory });
  child.stdout.destroy();
  let stderr = "";
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  expect(await once(child, "close")).toEqual([1, null]);
  const watching = args.length === 0 ? "" : "acp-skills: watching 1 skill; press Ctrl-C to stop\n";
  expect(stderr).toBe(watching);
});

test("--rule changes the severity of rules, and an unknown rule or severity is a usage error", async () => {
  project.write("skills/pdf/SKILL.md", skillText("PDF"));
  expect(await problemsOf("skills", "--rule", "name-not-lowercase=warning")).toMatchObject({
    code: 0,
    problems: [{ code: "name-not-lowercase", severity: "warning" }],
  });
  expect(await problemsOf("skills", "--rule=name-not-lowercase=off")).toMatchObject({ code: 0, problems: [] });
  const unknown = await check("skills", "--rule", "name-not-lowcase=off");
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("unknown rule name-not-lowcase; did you mean name-not-lowercase?");
  const wrong = await check("skills", "--rule", "name-not-lowercase=fatal");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("--rule name-not-lowercase needs off, warning or error");
});

test("--rule changes rules about several skills as well", async () => {
  project.write("skills/pdf/SKILL.md", skillText("pdf"));
  project.write("skills/other/pdf/SKILL.md", `${skillText("pdf")}differs\n`);
  expect(await problemsOf("skills")).toMatchObject({ code: 0, codes: ["slug-qualified"] });
  expect(await problemsOf("skills", "--rule", "slug-qualified=error")).toMatchObject({ code: 1 });
  expect(await problemsOf("skills", "--rule", "slug-qualified=off")).toMatchObject({ code: 0, codes: [] });
});

test("prints 20 problems unless --max-problems is given; JSON contains all", async () => {
  for (let index = 0; index < 25; index++) project.write(`skills/s${index}/SKILL.md`, skillText(`S${index}`));
  const shown = async (...args: string[]): Promise<number | undefined> =>
    (await check("skills", ...args)).stdout.match(/^skills\/s\d+\/SKILL\.md:\d+:\d+ error/gm)?.length;
  const { stdout } = await check("skills");
  expect(await shown()).toBe(20);
  expect(stdout).toContain("… and 5 more problems; show more with --max-problems");
  expect(stdout).toMatch(
    /\n25 errors   name-not-lowercase\n25 skills checked: 25 errors; 25 can be fixed with --fix\n$/,
  );
  expect(await shown("--max-problems", "3")).toBe(3);
  expect(await shown("--max-problems", "100")).toBe(25);
  expect((await problemsOf("skills")).problems).toHaveLength(25);
  expect(await check("skills", "--max-problems", "few")).toMatchObject({ code: 2 });
});

test("fields that agents document are no problem unless the level is spec, and all others are one warning", async () => {
  const fields = "model: opus\nhooks:\n  x: y\nversion: 1\norigin: me\ntags: [a]\n---\n\n";
  project.write("skills/a/SKILL.md", skillText("a").replace("---\n\n", fields));
  const { code, problems } = await problemsOf("skills");
  expect(code).toBe(0);
  expect(problems).toMatchObject([{ code: "field-unexpected", severity: "warning", line: 8 }]);
  expect(problems[0]?.message).toMatch(/: `origin` and `tags`$/);
  expect(await problemsOf("skills", "--level", "spec")).toMatchObject({ code: 1 });
});

test("--json prints JSON as in every command", async () => {
  project.write("skills/a/SKILL.md", skillText("a"));
  const json = await check("skills", "--json");
  expect(json).toEqual(await check("skills", "--reporter", "json"));
  expect(JSON.parse(json.stdout)).toMatchObject({ problems: [], checked: 1 });
  expect(await check("skills", "--json", "--reporter", "sarif")).toMatchObject({ code: 2 });
});
