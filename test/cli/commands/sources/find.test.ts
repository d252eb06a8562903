import { expect, test } from "vitest";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";
import { sharingIndex, usePublisher } from "./publisher.ts";

const project = useTemporaryProject();
const publisher = usePublisher();

async function find(...args: readonly string[]): Promise<CliRun> {
  return await runCli(["find", ...args], { cwd: project.directory });
}

function writeSkill(name: string, description: string): void {
  const text = skillText(name).replace(/^description:.*$/m, `description: ${description}`);
  project.write(`.agents/skills/${name}/SKILL.md`, text);
}

test("skills here and at sources are listed together, best matches first", async () => {
  writeSkill("tables", "Reads tables of PDF files.");
  writeSkill("notes", "Takes notes.");
  publisher.pages = { "/.well-known/skill-sharing": sharingIndex({ "pdf-tables": "api", weather: "api" }) };
  const { code, stdout, stderr } = await find("pdf", "tables", "--source", publisher.url);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["NAME", "VERSION", "FROM", "DESCRIPTION"],
    ["pdf-tables", "1.2.0", `${publisher.url}/`, "Does it."],
    ["tables", "0.0.0", ".agents/skills/tables", "Reads tables of PDF files."],
    [""],
  ]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
});

test("--json prints the matches", async () => {
  writeSkill("tables", "Reads tables.");
  const { stdout } = await find("table", "--json");
  const [skill] = (JSON.parse(stdout) as { skills: readonly unknown[] }).skills;
  expect(skill).toEqual({
    name: "tables",
    version: "0.0.0",
    description: "Reads tables.",
    from: ".agents/skills/tables",
  });
});

test("a source that cannot be read leaves the other matches, and exits with 3", async () => {
  writeSkill("tables", "Reads tables.");
  const { code, stdout, stderr } = await find("tables", "--source", publisher.url);
  expect(stdout).toContain("Reads tables.");
  expect(stderr).toContain(`${publisher.url}/ lists no skills`);
  expect(code).toBe(3);
});

test("without a match it says so, and exits with 1", async () => {
  const { code, stdout, stderr } = await find("zebra");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("no skill matches");
});

test.each([
  [["…"], "WORD needs a letter or digit"],
  [["x", "--source", "rows"], "not a source"],
  [[], "WORD"],
])(
  // prettier-ignore
  "%j is a usage error",
  async (args, why) => {
    const { code, stderr } = await find(...args);
    expect(stderr).toContain(why);
    expect(code).toBe(2);
  },
);
