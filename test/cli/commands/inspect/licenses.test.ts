import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const terms = "Permission is granted.\n";

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

test("the table names the license that each skill states, and its license files", async () => {
  writeSkill("a", "Apache 2.0");
  writeSkill("b", undefined, terms);
  writeSkill("c", "ISC", terms);
  writeSkill("d", "Free for friends", terms);
  writeSkill("e");
  const { code, stdout, stderr } = await licenses();
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "LICENSE", "STATUS", "FILES"],
    ["a", "Apache-2.0", "declared"],
    ["b", "unknown", "LICENSE"],
    ["c", "ISC", "declared", "LICENSE"],
    ["d", "unknown", '"Free for friends" is stated; LICENSE'],
    ["e", "unspecified"],
    [""],
  ]);
  expect(stderr).toBe("acp-skills: 5 skills: 2 declared, 2 unknown, 1 unspecified\n");
  expect(code).toBe(0);
});

test("--json prints what is stated, and the license files", async () => {
  const file = writeSkill("pdf", "See LICENSE", terms);
  const { stdout } = await licenses(["--json"]);
  expect(JSON.parse(stdout)).toEqual({
    schemaVersion: 1,
    skills: [
      {
        name: "pdf",
        version: "0.0.0",
        status: "unknown",
        declared: "See LICENSE",
        files: ["LICENSE"],
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
    "name,version,license,status,declared,files,denied,path\r\n" +
      `pdf,0.0.0,,unknown,"'=HYPERLINK(""https://example.com"", ""a"")",` +
      `,,${file}\r\n`,
  );
});

test("a license that a policy denies is named, and exits with 1", async () => {
  writeSkill("a", "MIT");
  writeSkill("b", "GPL-3.0-only");
  writeSkill("c", "MIT OR GPL-3.0-only");
  writeSkill("d", "GPLv3", terms);
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
  expect(code).toBe(2);
});

test("--csv and --json exclude each other", async () => {
  const { code, stderr } = await licenses(["--csv", "--json"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--csv and --json exclude each other")]);
});

test("show names the license files", async () => {
  writeSkill("pdf", "See LICENSE", terms);
  const { stdout } = await runCli(["show", "pdf"], { cwd: project.directory });
  expect(stdout).toMatch(/^license +See LICENSE\nlicense files +LICENSE$/m);
});

test("a skill does not run if a policy denies its license", async () => {
  writeSkill("tool", "GPLv3", terms);
  project.write(".agents/skills/tool/scripts/main.sh", "echo done\n");
  const policy = project.write("policy.json", JSON.stringify({ licenses: { deny: ["GPL-3.0"] } }));
  const { code, stderr } = await runCli(["run", "tool", "--script", "scripts/main.sh"], {
    cwd: project.directory,
    env: { ACP_SKILLS_POLICY: policy },
  });
  expect(stderr).toContain("denies the license GPL-3.0:");
  expect(code).toBe(3);
});
