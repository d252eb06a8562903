import { mkdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "../../temporary-project.ts";

const project = useTemporaryProject();
const file = "acp-skills.policy.json";

async function policy(...args: string[]): Promise<CliRun> {
  return await runCli(["policy", ...args], {
    cwd: project.directory,
    env: { ACP_SKILLS_POLICY: project.at("given.json"), HOME: project.at("home") },
  });
}

describe("acp-skills policy check", () => {
  test("shows each problem with a code frame and a fix, and exits with 1", async () => {
    project.write("given.json", "{}");
    project.write(file, '{\n  "reads": "allow",\n  "skill": { "deny": ["x"] }\n}\n');
    expect(await policy("check")).toEqual({
      code: 1,
      stdout: [
        "acp-skills.policy.json:3:3 error policy-key-unknown",
        '  unknown key "skill" in a policy',
        '    2 |   "reads": "allow",',
        '  > 3 |   "skill": { "deny": ["x"] }',
        "      |   ^^^^^^^",
        "    4 | }",
        '  fix: Did you mean "skills"?',
        "",
        "configuration  given.json: no problems",
        "project        acp-skills.policy.json: 1 error; nothing beyond the sandbox is allowed where it counts",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  test("exits with 0 for warnings, and prints JSON with every problem", async () => {
    project.write("given.json", "{}");
    project.write(file, '{ "grants": [] }');
    const { code, stdout } = await policy("check", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 1,
      files: [
        { origin: "configuration", file: project.at("given.json"), used: true },
        { origin: "project", file: project.at(file), used: true },
      ],
      problems: [
        {
          code: "policy-loosens",
          severity: "warning",
          file: project.at(file),
          line: 1,
          column: 13,
          endLine: 1,
          endColumn: 15,
          message: "a project cannot grant anything; it has no effect",
          fix: "Remove it.",
        },
      ],
    });
  });

  test("checks one file, and reports one that does not exist", async () => {
    project.write("other.json", '{ "runs": "ask" }');
    expect(await policy("check", "other.json")).toMatchObject({ code: 0, stdout: "other.json: no problems\n" });
    const missing = await policy("check", "missing.json");
    expect(missing.code).toBe(1);
    expect(missing.stdout).toContain("missing.json:1:1 error policy-unreadable\n  there is no such file");
  });

  test("refuses other actions, and an explanation of nothing", async () => {
    expect(await policy("chek")).toMatchObject({
      code: 2,
      stderr: "acp-skills: unknown action chek; use check or explain (see acp-skills policy --help)\n",
    });
    expect(await policy("explain")).toMatchObject({ code: 2 });
  });
});

describe("acp-skills policy explain", () => {
  test("says for each thing which file and which rule decides", async () => {
    writeSecretAction(project);
    mkdirSync(project.at(".git"));
    project.write("given.json", '{ "skills": { "allow": ["key.*"] } }');
    project.write(file, '{\n  "secrets": { "deny": ["*_KEY"] }\n}\n');
    const { code, stdout, stderr } = await policy("explain", "key-use", "--skills", "skills");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [skill, digest, source, given, own, , ...rows] = stdout.replaceAll(project.directory, "").trim().split("\n");
    expect(skill).toMatch(/^skill +key\.use 1\.0\.0$/);
    expect(digest).toMatch(/^digest +sha256:[0-9a-f]{64}$/);
    expect([source, given, own]).toEqual(["source    skills", "policy    given.json", `policy    ${file}`]);
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
      ["WHAT", "VERDICT", "RULE", "WHERE"],
      ["the name key.use", "allowed", "in skills.allow", "given.json:1:24"],
      ["the source /skills", "allowed", "no rule is against it"],
      ["the license unspecified", "allowed", "no rule is against it"],
      ["running code", "allowed", "no rule is against it"],
      ["running in the sandbox", "allowed", 'runs is "sandbox"'],
      ["reading the secret ACP_SKILLS_ABSENT_KEY", "denied", 'secrets.deny has "*_KEY"', `${file}:2:25`],
    ]);
  });

  test("names the rule that makes a run in the sandbox need approval", async () => {
    writeSecretAction(project);
    project.write("given.json", "{}");
    project.write(file, '{ "runs": "ask" }');
    const { stdout } = await policy("explain", "key-use", "--skills", "skills");
    expect(stdout).toMatch(/^running in the sandbox +needs approval +runs is "ask" +acp-skills\.policy\.json:1:11$/m);
  });

  test("prints JSON, also of a skill that is denied", async () => {
    project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
    project.write("given.json", '{ "sources": { "deny": ["project"] } }');
    const { code, stdout } = await policy("explain", "pdf", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      name: "pdf",
      own: false,
      license: "unspecified",
      files: [{ origin: "configuration", used: true }],
      decisions: [
        { about: "the name pdf", verdict: "allowed" },
        { verdict: "denied", why: 'sources.deny has "project"', file: project.at("given.json"), line: 1, column: 25 },
        { about: "the license unspecified", verdict: "allowed" },
        { about: "reading by models", verdict: "needs approval", why: 'reads is "ask"' },
      ],
    });
  });

  test("exits with 3 for a skill that does not exist", async () => {
    project.write("given.json", "{}");
    expect(await policy("explain", "nothing")).toMatchObject({ code: 3, stdout: "" });
  });
});
