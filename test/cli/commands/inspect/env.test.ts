import { chmodSync, existsSync } from "node:fs";
import { expect, test } from "vitest";
import { runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

/** Runs `env` with only these programs on PATH; none of them may run. */
async function env(args: readonly string[], programs: readonly string[] = []) {
  for (const name of programs)
    chmodSync(project.write(`bin/${name}`, `#!/bin/sh\necho ran > '${project.at("ran")}'\n`), 0o755);
  project.write("work/keep", "");
  const ran = await runCli(["env", ...args], {
    cwd: project.at("work"),
    env: { PATH: project.at("bin"), HOME: project.at("home"), ACP_SKILLS_HOME: project.at("data") },
  });
  expect(existsSync(project.at("ran"))).toBe(false);
  return ran;
}

function skill(name: string, frontmatter: string): void {
  const text = skillText(name).replace("\n---\n", `\n${frontmatter}\n---\n`);
  project.write(`work/.agents/skills/${name}/SKILL.md`, text);
}

interface Shown {
  readonly counts: unknown;
  readonly skills: readonly {
    readonly name: string;
    readonly status: string | null;
    readonly requirements: readonly Record<string, unknown>[];
  }[];
}

test("prints a summary first, then each requirement with its evidence, what is missing first", async () => {
  skill("plain", "license: MIT");
  skill("met", "metadata:\n  requires:\n    bins: [git]");
  skill("words", "compatibility: Requires git and a token.");
  skill("lacks", "compatibility: Requires a token.\nmetadata:\n  requires:\n    bins: [git, uv]");
  const { code, stdout, stderr } = await env([], ["git"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  const lines = stdout.trimEnd().split("\n");
  expect(lines[0]).toBe(
    "4 skills: 1 without something that they require, 1 unknown, 1 with all that they require, 1 without requirements",
  );
  expect(lines.slice(2).map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
    ["STATUS", "SKILL", "REQUIRES"],
    ["missing", "lacks", "uv"],
    ["unknown", "lacks", "stated in words, not checked"],
    ["met", "lacks", "git"],
    ["unknown", "words", "stated in words, not checked"],
    ["met", "met", "git"],
  ]);
  expect(stdout).toContain("uv is not on PATH. Install uv.");
  expect(stdout).toContain('"Requires git and a token."');
});

test("exits with 0 if nothing is known to be missing, whatever compatibility says in words", async () => {
  skill("a", "compatibility: Requires git");
  const { code, stdout } = await env(["a"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/unknown +a +stated in words, not checked +SKILL.md compatibility +"Requires git"/);
});

test("--json names the place, the certainty and the advice of each requirement", async () => {
  skill("a", "metadata:\n  requires:\n    bins: [uv]");
  const { code, stdout } = await env(["a", "--json"]);
  expect(code).toBe(1);
  const { counts, skills } = JSON.parse(stdout) as Shown;
  expect(counts).toEqual({ skills: 1, missing: 1, unknown: 0, met: 0, nothing: 0 });
  expect(skills).toMatchObject([
    {
      name: "a",
      status: "missing",
      requirements: [
        {
          kind: "program",
          name: "uv",
          status: "missing",
          evidence: "uv is not on PATH",
          advice: "Install uv.",
          certainty: "declared",
          where: { file: "SKILL.md", field: "metadata.requires.bins", text: "uv" },
        },
      ],
    },
  ]);
});

test("compares secrets, packages and other skills of an action", async () => {
  const files = "work/.agents/skills/rows.clean";
  project.write(`${files}/SKILL.md`, skillText("rows.clean"));
  project.write(`${files}/code/main.py`, "def main():\n    pass\n");
  project.write(`${files}/code/requirements.txt`, "requests>=2\n");
  project.write(
    `${files}/skill.toml`,
    [
      'name = "rows.clean"\nversion = "1.0.0"\ndescription = "Cleans rows."\nkind = "action"',
      '[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"',
      '[permissions]\nsecrets = ["ABSENT_KEY", "FILED_KEY"]',
      '[dependencies]\nskills = ["rows.count@^1"]\n',
    ].join("\n"),
  );
  const secrets = project.write("secrets.env", "FILED_KEY=s3cr3t-value\n");
  const { stdout } = await env(["rows.clean", "--json", "--secrets-file", secrets]);
  const [shown] = (JSON.parse(stdout) as Shown).skills;
  const found = shown?.requirements.map(({ name, status }) => `${String(name)}: ${String(status)}`);
  expect(found).toEqual(
    expect.arrayContaining([
      "secret ABSENT_KEY: missing",
      "secret FILED_KEY: met",
      "skill rows.count@^1: missing",
      "Python packages requests>=2: missing",
    ]),
  );
  expect(stdout).not.toContain("s3cr3t-value");
});

test("names a skill that does not exist, and still shows the others", async () => {
  skill("a", "license: MIT");
  const { code, stdout, stderr } = await env(["a", "b"]);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "nothing is required\n" });
  expect(stderr).toContain("b");
});

test("show has one line about it", async () => {
  skill("a", "compatibility: Requires a token\nrequires:\n  bins: [git]");
  const { stdout } = await runCli(["show", "a"], { cwd: project.at("work"), env: { PATH: project.at("bin") } });
  expect(stdout).toMatch(/^environment +missing: git; unknown: compatibility \(stated in words, not checked\)$/m);
});
