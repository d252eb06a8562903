import { spawn } from "node:child_process";
import { chmodSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { availableSkillSchema } from "../../../../src/wire/available-skill.ts";
import { binary, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

interface Listed {
  readonly skills: readonly Readonly<Record<string, unknown>>[];
  readonly problems: readonly Readonly<Record<string, unknown>>[];
}

async function list(...args: string[]) {
  const run = await runCli(["list", ...args], { cwd: project.directory });
  return { ...run, listed: () => JSON.parse(run.stdout) as Listed };
}

test("--json prints each skill as editors receive it, with its path and problems", async () => {
  const file = project.write(
    ".agents/skills/pdf/SKILL.md",
    skillText("pdf").replace("---\n\n", "license: MIT\n---\n\n"),
  );
  const { code, stderr, listed } = await list("--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { skills, problems } = listed();
  expect(problems).toEqual([]);
  expect(skills).toEqual([
    {
      name: "pdf",
      description: "Does pdf. Use when pdf is asked for.",
      license: "MIT",
      _meta: {
        "acp-skills": {
          name: "pdf",
          version: "0.0.0",
          kind: "instruction",
          namespace: "pdf",
          source: project.at(".agents", "skills"),
        },
      },
      path: file,
      problems: [],
    },
  ]);
  expect(Object.keys(skills[0]!)).toEqual(["name", "description", "license", "_meta", "path", "problems"]);
  expect(() => availableSkillSchema.parse(skills[0])).not.toThrow();
});

test("--json prints the same text every time, sorted by name", async () => {
  for (const name of ["b", "a-b", "a", "c2", "c10"]) project.write(`.claude/skills/${name}/SKILL.md`, skillText(name));
  const first = await list("--json");
  expect(await list("--json").then(({ stdout }) => stdout)).toBe(first.stdout);
  expect(first.listed().skills.map(({ name }) => name)).toEqual(["a", "a-b", "b", "c10", "c2"]);
});

test("a skill with a duplicate name is found by all tools under its qualified slug", async () => {
  project.write(".agents/skills/deploy/SKILL.md", skillText("deploy", "Deploys here."));
  project.write(".agents/skills/plugins/cloud/skills/deploy/SKILL.md", skillText("deploy", "Deploys to the cloud."));
  const { listed } = await list("--json");
  expect(listed().skills.map(({ name, description }) => [name, description])).toEqual([
    ["cloud-deploy", "Deploys to the cloud."],
    ["deploy", "Deploys here."],
  ]);
  const call = async (tool: string, args: object): Promise<unknown> => {
    const { stdout } = await runCli(["call", tool, JSON.stringify(args)], { cwd: project.directory });
    return JSON.parse(stdout);
  };
  expect(await call("list_skills", { namespace: "cloud-deploy" })).toMatchObject({
    skills: [{ name: "cloud-deploy" }],
  });
  expect(await call("describe_skill", { name: "cloud-deploy" })).toMatchObject({
    skill: { manifest: { name: "cloud-deploy", namespace: "cloud-deploy", description: "Deploys to the cloud." } },
  });
});

test("an empty list exits with 0", async () => {
  const { code, stderr, listed } = await list("--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(listed()).toEqual({
    schemaVersion: 1,
    skills: [],
    problems: [],
    counts: { found: 0, checked: 0, notChecked: 0, complete: true, reasons: [] },
  });
  const table = await list();
  expect(table).toMatchObject({ code: 0, stdout: "" });
  expect(table.stderr).toMatch(/^acp-skills: no skills found in .agents\/skills, /);
});

test("roots are searched in order of precedence, and --no-default-roots keeps only the explicit ones", async () => {
  project.write("mine/pdf/SKILL.md", skillText("pdf", "Mine."));
  project.write("work/.agents/skills/pdf/SKILL.md", skillText("pdf", "The project's."));
  project.write("work/.claude/skills/docx/SKILL.md", skillText("docx"));
  project.write(".agents/skills/home/SKILL.md", skillText("home"));
  const all = await list("--json", "--cwd", "work", "--skills", "mine");
  expect(all.listed().skills.map(({ name, description }) => [name, description])).toEqual([
    ["docx", "Does docx. Use when docx is asked for."],
    ["home", "Does home. Use when home is asked for."],
    ["pdf", "Mine."],
  ]);
  expect(all.listed().problems).toMatchObject([{ code: "skill-shadowed", severity: "warning" }]);
  const explicit = await list("--json", "--cwd", "work", "--skills", "mine", "--no-default-roots");
  expect(explicit.listed().skills.map(({ name }) => name)).toEqual(["pdf"]);
});

test("a skill with problems is listed with them, an invalid one only as a problem; the exit code is 0", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("PDF"));
  project.write(".agents/skills/broken/SKILL.md", "no frontmatter\n");
  const { code, listed } = await list("--json");
  expect(code).toBe(0);
  expect(listed().skills).toMatchObject([{ name: "pdf", problems: [{ code: "name-not-lowercase" }] }]);
  expect(listed().problems).toContainEqual(expect.objectContaining({ code: "frontmatter-missing", severity: "error" }));
});

test("exits with 2 if a --skills directory cannot be read, and still lists the other roots", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  project.write("a-file", "");
  const { code, stderr, listed } = await list("--json", "--skills", "missing", "--skills", "a-file");
  expect(code).toBe(2);
  expect(stderr.split("\n")).toEqual([
    `acp-skills: --skills ${project.at("missing")}: no such directory`,
    `acp-skills: --skills ${project.at("a-file")}: not a directory`,
    "",
  ]);
  expect(listed().skills.map(({ name }) => name)).toEqual(["pdf"]);
});

test.skipIf(process.getuid?.() === 0)("exits with 2 for a --skills directory without permission", async () => {
  project.write("closed/pdf/SKILL.md", skillText("pdf"));
  chmodSync(project.at("closed"), 0);
  const { code, stderr } = await list("--skills", "closed");
  chmodSync(project.at("closed"), 0o755);
  expect(code).toBe(2);
  expect(stderr).toContain("cannot be read (EACCES)");
});

test("without --json, prints a table on stdout and a summary of problems on stderr", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf", "Reads PDF. \\\u001b[31mred"));
  project.write(".agents/skills/draft/SKILL.md", skillText("Draft"));
  const { code, stdout, stderr } = await list();
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.replace(/ {2,}/g, " | "))).toEqual([
    "NAME | VERSION | KIND | SOURCE | DESCRIPTION",
    "draft | 0.0.0 | instruction | .agents/skills | Does Draft. Use when Draft is asked for.",
    expect.stringMatching(/^pdf \| 0\.0\.0 \| instruction \| \.agents\/skills \| Reads PDF\. \\/),
    "",
  ]);
  expect(stdout).not.toContain("\u001b");
  expect(stderr).toMatch(/^acp-skills: .*\d warnings?; details: acp-skills check --level lenient .agents\/skills\n$/);
});

test("uses colours without a terminal only with FORCE_COLOR", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  const forced = await runCli(["list"], { cwd: project.directory, env: { FORCE_COLOR: "1" } });
  expect(forced.stdout).toContain("\u001b[2mNAME");
  const refused = await runCli(["list"], { cwd: project.directory, env: { NO_COLOR: "1" } });
  expect(refused.stdout).not.toContain("\u001b");
});

test("lists the same skill under two roots once", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  project.write(".claude/keep", "");
  symlinkSync("../.agents/skills", project.at(".claude", "skills"));
  const { listed } = await list("--json");
  expect(listed()).toMatchObject({ skills: [{ name: "pdf" }], problems: [] });
});

test("ends silently if the reader closes stdout early", async () => {
  for (let index = 0; index < 2000; index++) {
    project.write(`.agents/skills/s-${index}/SKILL.md`, skillText(`s-${index}`, "long ".repeat(150)));
  }
  const child = spawn("sh", ["-c", '"$0" "$1" list --json | head -n 1', process.execPath, binary], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.directory },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
  child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  expect({ stdout, stderr }).toEqual({ stdout: '{"schemaVersion":1,"skills":[\n', stderr: "" });
});

test("names only roots with problems, not one whose path is a prefix of another", async () => {
  project.write("sk/pdf/SKILL.md", skillText("pdf"));
  project.write("sk2/draft/SKILL.md", skillText("Draft"));
  const { stderr } = await list("--no-default-roots", "--skills", "sk", "--skills", "sk2");
  expect(stderr).toMatch(/--level lenient sk2\n$/);
});

test("the check command that list suggests reports the same problems that list counts", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  project.write(".agents/skills/more/pdf/SKILL.md", skillText("pdf", "Another."));
  project.write(".agents/skills/copy/pdf/SKILL.md", skillText("pdf"));
  project.write(".agents/skills/broken/SKILL.md", "no frontmatter");
  project.write(".claude/skills/pdf/SKILL.md", skillText("pdf", "Hidden."));
  project.write(".claude/skills/late/SKILL.md", skillText("early").replace("---\n\n", "author: me\n---\n\n"));
  project.write("it's here/pdf/SKILL.md", skillText("pdf", "First."));
  const options = ["--skills", "it's here"];
  const { problems } = (await list("--json", ...options)).listed();
  const { stderr } = await list(...options);
  const command = /details: acp-skills (check --level lenient .*)/.exec(stderr)?.[1] ?? "";
  const words = [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? String(plain) : quoted.replaceAll("'\\''", "'"),
  );
  expect(words.slice(0, 3)).toEqual(["check", "--level", "lenient"]);
  const { stdout } = await runCli([...words, "--reporter", "json"], { cwd: project.directory });
  const checked = (JSON.parse(stdout) as Listed).problems;
  const sorted = (all: Listed["problems"]): string[] => all.map((problem) => JSON.stringify(problem)).sort();
  expect(sorted(checked)).toEqual(sorted(problems));
  const count = (severity: string): number => problems.filter((problem) => problem["severity"] === severity).length;
  expect(count("warning")).toBeGreaterThan(3);
  expect(stderr).toContain(`${count("warning")} warnings`);
});

test("a skill that cannot be used now says so, in the table, as JSON and in show", async () => {
  const wanting = (name: string): string =>
    skillText(name).replace("---\n\n", "metadata:\n  acp-skills-secrets: API_KEY\n---\n\n");
  project.write(".agents/skills/plain/SKILL.md", skillText("plain"));
  expect((await list()).stdout).toMatch(/^NAME +VERSION +KIND +SOURCE +DESCRIPTION$/m);
  project.write(".agents/skills/keyed/SKILL.md", wanting("keyed"));
  project.write(".agents/skills/evil/SKILL.md", wanting("evil"));
  project.write("acp-skills.policy.json", JSON.stringify({ skills: { deny: ["evil"] } }));
  const { stdout } = await list();
  expect(stdout).toMatch(/^NAME +VERSION +KIND +STATE +SOURCE +DESCRIPTION$/m);
  expect(stdout).toMatch(/^keyed +0\.0\.0 +instruction +needs-approval +/m);
  expect(stdout).toMatch(/^evil +0\.0\.0 +instruction +denied +/m);
  expect((await list("--json")).listed().skills.map(({ name, state }) => [name, state])).toEqual([
    ["evil", "denied"],
    ["keyed", "needs-approval"],
    ["plain", undefined],
  ]);
  const shown = await runCli(["show", "evil"], { cwd: project.directory });
  expect(shown.stdout).toMatch(/^state +denied$/m);
});
