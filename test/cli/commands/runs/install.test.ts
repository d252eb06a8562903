import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { findPython } from "../../../../src/runtime/sandbox/find.ts";
import { writeWheel } from "../../../runtime/sandbox/requirements/wheels.ts";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const found = await findPython();
const lacksPip = "reason" in found || !hasPip(found.executable);
const project = useTemporaryProject();

function hasPip(python: string): boolean {
  try {
    execFileSync(python, ["-I", "-c", "import pip"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Writes a skill that imports a package, and an empty directory for wheels. */
function writeAction(requirements?: string): void {
  project.write("wheels/README", "");
  const manifest = 'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"\n';
  project.write("skills/a.b/SKILL.md", skillText("a.b"));
  project.write("skills/a.b/skill.toml", `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n`);
  project.write("skills/a.b/code/main.py", "def main():\n    import first\n    return first.name\n");
  if (requirements !== undefined) project.write("skills/a.b/code/requirements.txt", requirements);
}

const only = ["--no-default-roots", "--skills", "skills"];

async function install(name: string, ...more: readonly string[]): Promise<CliRun> {
  return await runCli(["install", name, ...only, "--find-links", "wheels", ...more], { cwd: project.directory });
}

describe("acp-skills install", () => {
  test.skipIf(lacksPip)(
    "installs a skill's requirements from a directory of wheels, and its runs can import them",
    async () => {
      writeAction("first==1.0\n");
      writeWheel(project.at("wheels"), "first");
      const before = await runCli(["run", "a.b", ...only], { cwd: project.directory });
      expect(before).toMatchObject({ code: 3, stderr: expect.stringContaining("acp-skills install a.b") as string });
      const installed = await install("a-b", "--json");
      expect(installed).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(installed.stdout)).toMatchObject({ skill: "a.b" });
      const { code, stdout } = await runCli(["run", "a.b", "--json", ...only], { cwd: project.directory });
      expect({ code, result: JSON.parse(stdout) as unknown }).toMatchObject({ code: 0, result: { output: "first" } });
    },
  );

  test.skipIf(lacksPip)("names a package that is missing in the directory", async () => {
    writeAction("nosuch==1.0\n");
    const { code, stdout, stderr } = await install("a.b");
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("nosuch") as string,
    });
    const { stderr: told } = await install("a.b", "--json");
    expect(JSON.parse(told)).toMatchObject({ data: { code: "SKILL_NOT_READY" } });
  });

  test("refuses a requirements file that is too long", async () => {
    writeAction(`${"#".repeat(1024 * 1024)}\nfirst==1.0\n`);
    const { code, stdout, stderr } = await install("a.b");
    const told = "acp-skills: code/requirements.txt of a.b is larger than 1 MiB; nothing was installed\n";
    expect({ code, stdout, stderr }).toEqual({ code: 3, stdout: "", stderr: told });
  });

  test("reports that a skill requires nothing", async () => {
    writeAction();
    const { code, stderr } = await install("a.b");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining("nothing to install") as string,
    });
    const { stdout } = await install("a.b", "--json");
    expect(JSON.parse(stdout)).toEqual({ schemaVersion: 1, skill: "a.b", python: null, directory: null });
  });

  test("refuses an unknown skill", async () => {
    writeAction();
    const { code, stderr } = await install("a.c");
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining("a.c") as string });
  });
});
