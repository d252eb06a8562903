import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const mit = readFileSync(
  fileURLToPath(new URL("../../../fixtures/licenses/detected-mit/LICENSE", import.meta.url)),
  "utf8",
);

function writeSkill(name: string, license?: string, file?: string): string {
  if (file !== undefined) project.write(`.agents/skills/${name}/LICENSE`, file);
  const text = skillText(name);
  return project.write(
    `.agents/skills/${name}/SKILL.md`,
    license === undefined ? text : text.replace("---\n\n", `license: ${license}\n---\n\n`),
  );
}

async function licenses(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  return await runCli(["licenses", ...args], { cwd: project.directory, env });
}

test("the table names the license of each skill, and what its files say", async () => {
  writeSkill("a", "Apache 2.0");
  writeSkill("b", undefined, mit);
  writeSkill("c", "ISC", mit);
  writeSkill("d", "Free for friends");
  writeSkill("e");
  const { code, stdout, stderr } = await licenses();
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "LICENSE", "STATUS", "FOUND"],
    ["a", "Apache-2.0", "declared"],
    ["b", "MIT", "detected", "LICENSE is MIT"],
    ["c", "ISC", "conflict", "LICENSE is MIT"],
    ["d", "unknown", '"Free for friends" is stated'],
    ["e", "unspecified"],
    [""],
  ]);
  expect(stderr).toBe("acp-skills: 5 skills: 1 declared, 1 detected, 1 conflict, 1 unknown, 1 unspecified\n");
  expect(code).toBe(0);
});

test("a license file in the root of the repository is inherited by skills that have none, unless they were installed", async () => {
  const elsewhere = { HOME: path.dirname(project.directory) };
  writeSkill("own", "ISC");
  writeSkill("pdf");
  writeSkill("foreign");
  project.write("LICENSE", mit);
  expect((await licenses([], elsewhere)).stderr).toContain("2 unspecified, 1 declared\n");
  project.write(".git/HEAD", "ref: refs/heads/main\n");
  const skills = { foreign: { source: "owner/repo", sourceType: "github" } };
  project.write("skills-lock.json", JSON.stringify({ version: 1, skills }));
  const { stdout, stderr } = await licenses([], elsewhere);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "LICENSE", "STATUS", "FOUND"],
    ["foreign", "unspecified"],
    ["own", "ISC", "declared"],
    ["pdf", "MIT", "inherited", "../../../LICENSE is MIT"],
    [""],
  ]);
  expect(stderr).toContain("1 unspecified, 1 declared, 1 inherited\n");
  project.write("acp-skills.policy.json", JSON.stringify({ licenses: { deny: ["unspecified"] } }));
  expect((await licenses([], elsewhere)).stderr).toContain("2 denied by policy");
});

test("--json prints what is stated, what is found, and where", async () => {
  const file = writeSkill("pdf", "See LICENSE", mit);
  const { stdout } = await licenses(["--json"]);
  expect(JSON.parse(stdout)).toEqual({
    skills: [
      {
        name: "pdf",
        version: "0.0.0",
        status: "detected",
        license: "MIT",
        declared: "See LICENSE",
        files: [{ path: "LICENSE", licenses: ["MIT"], nearest: { license: "MIT", similarity: 1 } }],
        path: file,
        sources: [project.at(".agents", "skills")],
      },
    ],
  });
});

test("--csv prints one record a skill, and no formula", async () => {
  const file = writeSkill("pdf", `'=HYPERLINK("https://example.com", "a")'`);
  const { stdout } = await licenses(["--csv"]);
  expect(stdout).toBe(
    "name,version,license,status,declared,found,denied,path\r\n" +
      `pdf,0.0.0,,unknown,"'=HYPERLINK(""https://example.com"", ""a"")",` +
      `"""=HYPERLINK(""https://example.com"", ""a"")"" is stated",,${file}\r\n`,
  );
});

test("a license that a policy denies is named, and exits with 1", async () => {
  writeSkill("a", "MIT");
  writeSkill("b", "GPL-3.0-only");
  writeSkill("c", "MIT OR GPL-3.0-only");
  writeSkill("d", "GPL-3.0-only", mit);
  const policy = project.write("policy.json", JSON.stringify({ licenses: { deny: ["GPL-3.0"] } }));
  const { code, stdout, stderr } = await licenses(["--json"], { ACP_SKILLS_POLICY: policy });
  const { skills } = JSON.parse(stdout) as { skills: { name: string; denied?: { why: string } }[] };
  expect(skills.flatMap(({ name, denied }) => (denied === undefined ? [] : name))).toEqual(["b", "d"]);
  expect(skills[1]?.denied?.why).toContain("denies the license GPL-3.0-only");
  expect(stderr).toContain("2 denied by policy");
  expect(code).toBe(1);
  const { stdout: shown } = await licenses([], { ACP_SKILLS_POLICY: policy });
  expect(shown).toMatch(/^b +GPL-3\.0-only +declared +denied +.*denies the license GPL-3\.0-only/m);
});

test("a policy that cannot be used exits with 1", async () => {
  writeSkill("a", "MIT");
  const policy = project.write("policy.json", JSON.stringify({ licences: { deny: ["GPL-3.0"] } }));
  const { code, stderr } = await licenses([], { ACP_SKILLS_POLICY: policy });
  expect(stderr).toContain(policy);
  expect(code).toBe(1);
});

test("a PATH is a SKILL.md, a skill, or a directory of skills; one that is missing is reported", async () => {
  const file = writeSkill("a", "MIT");
  writeSkill("b", "ISC");
  for (const [given, names] of [
    [file, ["a"]],
    [".agents/skills/b", ["b"]],
    [".agents/skills", ["a", "b"]],
  ] as const) {
    const { code, stdout } = await licenses([given, "--json"]);
    const { skills } = JSON.parse(stdout) as { skills: { name: string }[] };
    expect([code, skills.map(({ name }) => name)]).toEqual([0, names]);
  }
  const { code, stderr } = await licenses(["absent", ".agents/skills/a"]);
  expect(stderr).toContain(`PATH ${project.at("absent")}: no such directory`);
  expect(stderr).toContain("1 skill: 1 declared");
  expect(code).toBe(1);
});

test("--csv and --json exclude each other", async () => {
  const { code, stderr } = await licenses(["--csv", "--json"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--csv and --json exclude each other")]);
});

test("show tells what the license file says", async () => {
  writeSkill("pdf", "See LICENSE", mit);
  const { stdout } = await runCli(["show", "pdf"], { cwd: project.directory });
  expect(stdout).toMatch(/^license +See LICENSE\nlicense files +"See LICENSE" is stated; LICENSE is MIT$/m);
});

test("a skill does not run if a policy denies the license of its files", async () => {
  writeSkill("tool", "MIT", "SPDX-License-Identifier: GPL-3.0-only\n");
  project.write(".agents/skills/tool/scripts/main.sh", "echo done\n");
  const policy = project.write("policy.json", JSON.stringify({ licenses: { deny: ["GPL-3.0"] } }));
  const { code, stderr } = await runCli(["run", "tool", "--script", "scripts/main.sh"], {
    cwd: project.directory,
    env: { ACP_SKILLS_POLICY: policy },
  });
  expect(stderr).toContain("denies the license GPL-3.0-only");
  expect(code).toBe(1);
});
