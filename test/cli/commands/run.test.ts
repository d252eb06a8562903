import { once } from "node:events";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, startCli } from "../run-cli.ts";
import type { CliRun } from "../run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "../temporary-project.ts";

const project = useTemporaryProject();

function writeAction(code: string, permissions = ""): void {
  const manifest = 'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"\n';
  project.write("skills/a.b/SKILL.md", "---\nname: A\nshort_description: Acts.\n---\n");
  project.write(
    "skills/a.b/skill.toml",
    `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n${permissions}`,
  );
  project.write("skills/a.b/code/main.py", code);
}

const only = ["--no-default-roots", "--skills", "skills"];

async function run(...args: readonly string[]): Promise<CliRun> {
  return await runCli(["run", ...args, ...only], { cwd: project.directory });
}

describe("acp-skills run", () => {
  test("shows on stderr what the code prints, on stdout the result, and hands a file over as a blob", async () => {
    writeAction("def main(args):\n    print('working')\n    return open('/blobs/' + args['sheet']).read()\n");
    project.write("sheet.csv", "a,b");
    const { code, stdout, stderr } = await run("a-b", "--args", '{"sheet":"@1"}', "--blob", "sheet.csv", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "working\n" });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", output: "a,b", logs_preview: "working\n" });
  });

  test("a run that failed gives 1, and a person the reason", async () => {
    writeAction("def main():\n    raise ValueError('not so')\n");
    const { code, stdout } = await run("a.b");
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("✗ ValueError: not so") as string });
  });

  test("what the code prints and returns is nothing that a CI system would obey", async () => {
    const lines = ["::set-output name=x::y", "##[error]pwned", "##vso[task.complete result=Failed]x"];
    writeAction(
      `import sys\ndef main():\n    for line in ${JSON.stringify(lines)}:\n        print(line)\n        print(line, file=sys.stderr)\n` +
        `    return {"output": ${JSON.stringify(`a\n${lines.join("\n")}`)}, "summary": "::error::pwned"}\n`,
    );
    for (const form of [[], ["--json"]]) {
      const { code, stdout, stderr } = await run("a.b", ...form);
      expect(code).toBe(0);
      expect(`${stdout}\n${stderr}`).toContain("pwned");
      expect(`${stdout}\n${stderr}`).not.toMatch(/^\s*::|##\w*\[/m);
    }
  });

  test("an input may have any name, also one that objects have by themselves", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    writeAction(
      "def main(args):\n    return sorted(args.items())\n",
      names.map((name) => `[inputs.${name}]\ntype = "string"\nrequired = true\n`).join(""),
    );
    const missing = await run("a.b");
    expect(missing.code).toBe(1);
    for (const name of names.slice(0, 3)) expect(missing.stderr).toContain(`--args ${name}: expected a string`);
    const args = JSON.stringify(Object.fromEntries(names.map((name) => [name, `${name}!`])));
    const { stdout } = await run("a.b", "--args", args, "--json");
    expect((JSON.parse(stdout) as { output: unknown }).output).toEqual(
      names.toSorted().map((name) => [name, `${name}!`]),
    );
  });

  test("--dry-run says what would be run, and runs nothing", async () => {
    writeAction("def main():\n    raise ValueError('it ran')\n");
    const { code, stdout } = await run("a.b", "--dry-run", "--timeout", "700000");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ skill: "a.b", program: { args: {} }, limits: { timeout_ms: 600_000 } });
  });

  test("a permission that was not granted is refused, with the option that grants it", async () => {
    writeSecretAction(project);
    const { code, stdout, stderr } = await run("key.use");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("--grant key.use:secrets");
  });

  test("what acp-skills keeps for all skills is in nobody's project", async () => {
    writeAction("def main():\n    pass\n", '[permissions]\nproject = "read"\n');
    const granted = ["run", "a.b", "--grant", "a.b:project-read", ...only];
    for (const ACP_SKILLS_HOME of [project.at("not/yet/there"), path.dirname(project.directory)]) {
      const { code, stderr } = await runCli(granted, { cwd: project.directory, env: { ACP_SKILLS_HOME } });
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("cannot be a project") as string });
    }
  });

  test("a name that no skill has is answered with the nearest ones", async () => {
    writeAction("def main():\n    pass\n");
    const { code, stderr } = await run("a.c");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("Available: a.b, ") as string });
  });

  test.each<[string, string[]]>([
    ["--args numbers: expected a whole number, got nothing.", ["a.b"]],
    ['--args numbers: expected a whole number, got "x".', ["a.b", "--args", '{"numbers":"x","sheet":"@1"}']],
    [
      '--args sheet: expected a blob: give a file with --blob, and "@1" here for the first',
      ["a.b", "--args", '{"numbers":1,"sheet":"@1"}'],
    ],
    ["--args nmbers: expected one of the skill's inputs: numbers, sheet", ["a.b", "--args", '{"nmbers":1}']],
    ["Did you mean numbers?", ["a.b", "--args", '{"nmbers":1}']],
    ["--args: expected an object", ["a.b", "--args", "[1]"]],
    ["acp-skills show words tells what it is for; a file under scripts/ runs with --script PATH.", ["words"]],
    ["acp-skills list shows which there are.", ["a.c"]],
  ])("a refusal speaks of the command line, not of tools: %s", async (told, args) => {
    writeAction(
      "def main(args):\n    pass\n",
      '[inputs.numbers]\ntype = "integer"\nrequired = true\n[inputs.sheet]\ntype = "blob"\n',
    );
    project.write("skills/words/SKILL.md", skillText("words"));
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(told);
    expect(stderr).not.toMatch(
      /execute_skill|describe_skill|list_skills|create_blob|input_blobs|timeout_ms|violations/,
    );
  });

  test('"@1" that stands for no --blob is told, and passed on as it is', async () => {
    writeAction("def main(args):\n    return args\n");
    const { code, stdout, stderr } = await run("a.b", "--args", '{"sheet":"@1","all":["@2","@x"]}', "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ output: { sheet: "@1", all: ["@2", "@x"] } });
    for (const place of ["@1", "@2"]) expect(stderr).toContain(`"${place}" in --args would stand for a --blob`);
    expect(stderr).not.toContain("@x");
  });

  test("a time that is cut short is told", async () => {
    writeAction("def main():\n    pass\n", "[limits]\ntimeout_ms = 5000\n");
    const cut = await run("a.b", "--timeout", "9999999");
    expect(cut).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("9999999 is more than a run may take") as string,
    });
    const own = await run("a.b", "--timeout", "6000");
    expect(own.stderr).toBe("acp-skills: --timeout 6000 is more than the skill allows itself; it had 5000 ms\n");
    expect((await run("a.b", "--timeout", "4000")).stderr).toBe("");
  });

  test("--args - reads the arguments from stdin", async () => {
    writeAction("def main(args):\n    return args\n");
    const args = ["run", "a.b", "--dry-run", "--args", "-", ...only];
    const { code, stdout } = await runCli(args, { cwd: project.directory, input: '{"n":1}' });
    expect({ code, program: (JSON.parse(stdout) as { program: unknown }).program }).toEqual({
      code: 0,
      program: { args: { n: 1 } },
    });
  });

  test.each([
    [["--timeout", "0"], "--timeout needs milliseconds"],
    [["--args", "{"], "--args is not JSON"],
    [["--blob", "nothing.csv"], "--blob nothing.csv is not a file that can be read"],
    [["--blob", "skills"], "--blob skills is not a file that can be read"],
    [["--grant", "a.b:all"], "--grant needs NAME:PERMISSION"],
    [["--grant", "a.bb:secrets"], "--grant a.bb:secrets: no skill is called a.bb; did you mean a.b?"],
  ])("%j is a fault of usage, and nothing runs", async (args, told) => {
    writeAction("def main():\n    pass\n");
    const { code, stdout, stderr } = await run("a.b", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(told);
  });

  test("an interruption ends the run", async () => {
    writeAction("import time\n\ndef main():\n    print('begun', flush=True)\n    time.sleep(60)\n");
    const child = startCli(["run", "a.b", ...only], { cwd: project.directory });
    const ended = once(child, "close");
    const [told] = (await once(child.stderr, "data")) as [Buffer];
    expect(told.toString()).toBe("begun\n");
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
  });
});
