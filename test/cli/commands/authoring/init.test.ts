import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type CliRun, runCli, unfolded } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function cli(...args: readonly string[]): Promise<CliRun> {
  return await runCli(args, { cwd: project.directory });
}

describe("acp-skills init", () => {
  test.each([
    ["sort-rows", []],
    ["sort-rows", ["--script"]],
    ["rows.sort", ["--action"]],
  ])("%s %j passes check without any problem", async (name, options) => {
    expect((await cli("init", name, ...options)).code).toBe(0);
    for (const level of ["agents", "spec", "wire", "lenient"]) {
      const { code, stdout } = await cli("check", "--level", level, `.agents/skills/${name}`);
      expect({ code, stdout }).toEqual({
        code: 0,
        stdout: expect.stringContaining("1 skill checked: no problems") as unknown,
      });
    }
    expect((await cli("list")).stdout).toContain(name.replace(".", "-"));
  });

  test("a script and an action run in the sandbox, by the command that is printed", async () => {
    const scripted = (await cli("init", "count-words", "--script")).stdout;
    expect(scripted).toContain("acp-skills run count-words --script scripts/main.py -- hello");
    const script = await cli("run", "count-words", "--script", "scripts/main.py", "--json", "--", "hello", "you");
    expect(script.code).toBe(0);
    expect(script.stdout).toContain('{\\"words\\": 2}');
    const acting = (await cli("init", "words.count", "--action")).stdout;
    expect(acting).toContain(`acp-skills run words.count --args '{"text": "hello"}'`);
    const action = await cli("run", "words.count", "--args", '{"text": "hello you all"}', "--json");
    expect(JSON.parse(action.stdout)).toMatchObject({ status: "completed", output: { words: 3 } });
  });

  test("creates the skill in --directory, and says how to use it from there", async () => {
    const { stdout } = await cli("init", "a-b", "--directory", "my skills");
    expect(stdout).toContain("created 'my skills/a-b'\n");
    expect(stdout).toContain("acp-skills list --skills 'my skills'\n");
    expect(existsSync(project.at("my skills/a-b/SKILL.md"))).toBe(true);
  });

  test("follows no link of the project out of it, unless the person names it", async () => {
    const elsewhere = mkdtempSync(path.join(tmpdir(), "acp-skills-test-elsewhere-"));
    mkdirSync(path.join(project.directory, ".agents"));
    symlinkSync(elsewhere, path.join(project.directory, ".agents", "skills"));
    const { code, stderr } = await cli("init", "sort-rows");
    expect([code, stderr]).toEqual([3, expect.stringContaining("is a symlink out of the project")]);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect((await cli("init", "sort-rows", "--directory", ".agents/skills")).code).toBe(0);
    expect(readdirSync(elsewhere)).toEqual(["sort-rows"]);
    rmSync(elsewhere, { recursive: true });
  });

  test("overwrites nothing", async () => {
    project.write(".agents/skills/a-b/notes.txt", "mine");
    const { code, stderr } = await cli("init", "a-b");
    expect(code).toBe(3);
    expect(unfolded(stderr)).toContain("a-b is not created: it exists already; choose another name");
    expect(existsSync(project.at(".agents/skills/a-b/SKILL.md"))).toBe(false);
  });

  test.each([
    [["Sort Rows"], "Sort Rows is not a name: .*; sort-rows is one"],
    [["rows.sort"], "rows.sort is not a name: a name is words"],
    [["../up"], "is not a name"],
    [["a--b"], "is not a name"],
    [["x".repeat(65)], "of at most 64 characters"],
    [["Rows-Sort", "--action"], "separated by single dots.*; rows.sort is one"],
    [["a", "--action", "--script"], "--action and --script exclude each other"],
    [[""], "an empty text is not a name"],
  ])("refuses %j", async (args, message) => {
    const { code, stderr } = await cli("init", ...args);
    expect(code).toBe(2);
    expect(unfolded(stderr)).toMatch(new RegExp(message));
    expect(existsSync(project.at(".agents"))).toBe(false);
  });
});
