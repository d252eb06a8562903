import { renameSync } from "node:fs";
import { once } from "node:events";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parseDuration } from "../../../../src/cli/commands/runs/run.ts";
import { type CliRun, runCli, startCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "../../temporary-project.ts";

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
  test("prints the output of the code on stderr and the result on stdout, and passes a file as a blob", async () => {
    writeAction("def main(args):\n    print('working')\n    return open('/blobs/' + args['sheet']).read()\n");
    project.write("sheet.csv", "a,b");
    const { code, stdout, stderr } = await run("a-b", "--args", '{"sheet":"@1"}', "--blob", "sheet.csv", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "working\n" });
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", output: "a,b", logs_preview: "working\n" });
  });

  test("a run with a secret that is killed together with its process is in the ledger", async () => {
    writeAction(
      "import time\ndef main():\n    print('up', flush=True)\n    time.sleep(60)\n",
      '[permissions]\nsecrets = ["TOKEN"]\n',
    );
    const home = { ACP_SKILLS_HOME: project.at("home-data") };
    const args = ["run", "a.b", "--grant", "a.b:secrets", ...only];
    const child = startCli(args, { cwd: project.directory, env: { ...home, TOKEN: "hunter2hunter2" } });
    await new Promise<void>((resolve) => {
      child.stderr.on("data", (text: Buffer) => text.includes("up") && resolve());
    });
    child.kill("SIGKILL");
    await once(child, "close");
    const { stdout } = await runCli(["ledger", "--json"], { cwd: project.directory, env: home });
    const start = {
      event: "start",
      skill: "a.b",
      outcome: "started",
      about: "secret TOKEN",
      grant: "--grant a.b:secrets",
    };
    expect(JSON.parse(stdout)).toMatchObject({
      uses: [{ ...start, run_id: expect.stringMatching(/^run_/) as string }],
    });
  });

  test("a failed run exits with 1 and prints the traceback as text, with the skill's own paths", async () => {
    writeAction("def main():\n    raise ValueError('not so')\n");
    const { code, stdout } = await run("a.b");
    expect(code).toBe(1);
    const lines = [
      "✗ ValueError: not so",
      "Traceback (most recent call last):",
      '  File "skills/a.b/code/main.py", line 2, in main',
      "    raise ValueError('not so')",
    ];
    expect(stdout.split("\n").slice(0, -2)).toEqual(lines);
    expect(stdout).toMatch(/\nrun_\w+: \d+ ms, sandbox \w+\n$/);
  });

  test("a failed run ends with a hint for common causes", async () => {
    writeAction("import numpi_absent\ndef main():\n    pass\n");
    const { stdout } = await run("a.b");
    expect(stdout).toContain("✗ ModuleNotFoundError: No module named 'numpi_absent'\n");
    expect(stdout).toContain("code/requirements.txt of a.b, then run: acp-skills install a.b\n");
  });

  test("truncated output says how to read all of it", async () => {
    writeAction("def main():\n    for line in range(500):\n        print('line', line)\n    return 'x' * 10_000\n");
    const { stdout } = await run("a.b");
    const blob = /^10002 bytes; all of it: acp-skills blobs read (blob:\w+)$/m.exec(stdout)?.[1] ?? "";
    const read = await runCli(["blobs", "read", blob], { cwd: project.directory });
    expect(JSON.parse(read.stdout)).toBe("x".repeat(10_000));
    expect(stdout).toMatch(/^full log: acp-skills blobs read blob:\w+$/m);
  });

  describe("with --script", () => {
    function writeScript(code: string): void {
      project.write("skills/words/SKILL.md", skillText("words"));
      project.write("skills/words/scripts/say.py", code);
    }

    test("passes the words after -- to the script, and prints its output once", async () => {
      writeScript("import sys\nprint(sys.argv[1:])\n");
      const args = ["run", "words", ...only, "--script", "scripts/say.py", "--", "--in", "x y"];
      const { code, stdout, stderr } = await runCli(args, { cwd: project.directory });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "['--in', 'x y']\n" });
      expect(stdout).toMatch(/^✓ Completed\.\nrun_\w+: \d+ ms, sandbox \w+\n$/);
    });

    test("prints the traceback with the paths of the skill", async () => {
      writeScript("raise KeyError('boom')\n");
      const args = ["run", "words", ...only, "--script", "scripts/say.py"];
      const { code, stdout, stderr } = await runCli(args, { cwd: project.directory });
      expect(code).toBe(1);
      expect(stderr).toContain('File "skills/words/scripts/say.py", line 1, in <module>');
      expect(stdout).not.toContain("Traceback");
    });
  });

  test("commands to a CI system in what the code prints and returns are escaped", async () => {
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

  test("an input may have the name of a property that every object has", async () => {
    const names = ["constructor", "toString", "hasOwnProperty"];
    writeAction(
      "def main(args):\n    return sorted(args.items())\n",
      names.map((name) => `[inputs.${name}]\ntype = "string"\nrequired = true\n`).join(""),
    );
    const missing = await run("a.b");
    expect(missing.code).toBe(2);
    for (const name of names) expect(missing.stderr).toContain(`${name} in --args is required: a string`);
    const args = JSON.stringify(Object.fromEntries(names.map((name) => [name, `${name}!`])));
    const { stdout } = await run("a.b", "--args", args, "--json");
    expect((JSON.parse(stdout) as { output: unknown }).output).toEqual(
      names.toSorted().map((name) => [name, `${name}!`]),
    );
  });

  test("--dry-run prints the spec and its authorization, and runs nothing", async () => {
    writeAction("def main():\n    raise ValueError('it ran')\n");
    const { code, stdout } = await run("a.b", "--dry-run", "--timeout", "700000");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      authorization: { allowed: true, by: "sandbox" },
      spec: { skill: { name: "a.b" }, program: { args: {} }, limits: { timeoutMs: 600_000 }, door: "cli" },
    });
  });

  test("a missing permission is refused with the command that approves it", async () => {
    writeSecretAction(project);
    const { code, stdout, stderr } = await run("key.use");
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("You can approve exactly this version with: acp-skills approvals grant key.use@sha256:");
  });

  test.skipIf(process.platform === "win32")(
    "a skill leaves the sandbox only with a grant, and the result says so",
    async () => {
      const code = "import os\ndef main():\n    return os.environ['HOME']\n";
      writeAction(code, '[permissions]\nisolation = "none"\n');
      const refused = await run("a.b");
      expect(refused.code).not.toBe(0);
      expect(refused.stderr).toContain("without a sandbox");
      const { code: exitCode, stdout } = await run("a.b", "--grant", "a.b", "--json");
      expect(exitCode).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ status: "completed", limits_applied: { isolation: "none" } });
    },
  );

  test("a project that contains the data directory is refused", async () => {
    writeAction("def main():\n    pass\n", '[permissions]\nproject = "read"\n');
    const granted = [
      "run",
      "a.b",
      "--grant",
      "a.b:project-read",
      "--no-default-roots",
      "--skills",
      project.at("skills"),
    ];
    const inner = path.dirname(project.write("inner/README.md", "A project.\n"));
    for (const [cwd, ACP_SKILLS_HOME] of [
      [project.directory, project.at("not/yet/there")],
      [inner, project.directory],
    ] as const) {
      const { code, stderr } = await runCli(granted, { cwd, env: { ACP_SKILLS_HOME } });
      expect({ code, stderr }).toEqual({
        code: 3,
        stderr: expect.stringContaining("cannot be used as a project") as string,
      });
    }
  });

  test("the command that approves a refused skill can be copied: it names the same place", async () => {
    writeAction("def main():\n    return 1\n", '[permissions]\nnetwork = ["https://api.example"]\n');
    const directory = project.at("it's here");
    renameSync(project.at("skills"), directory);
    const { stderr } = await runCli(["run", "a.b", "--skills", directory], { cwd: project.directory });
    expect(stderr).toMatch(/approvals grant a\.b@sha256:[0-9a-f]{64} --skills '.*\/it'\\''s here'\n$/);
  });

  test("a grant by name that does not reach a skill of the project is refused, with what reaches it", async () => {
    project.write(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\n");
    const { code, stderr } = await runCli(["run", "pdf", "--grant", "pdf"], {
      cwd: project.directory,
      env: { HOME: project.at("home") },
    });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("name its digest") as string });
  });

  test("an unknown name is refused with the nearest one", async () => {
    writeAction("def main():\n    pass\n");
    const { code, stderr } = await run("a.c");
    expect({ code, stderr }).toEqual({ code: 3, stderr: "acp-skills: unknown skill a.c; did you mean a.b?\n" });
  });

  test.each<[string, string[]]>([
    ["numbers in --args is required: a whole number.", ["a.b"]],
    ['numbers in --args: expected a whole number, got "x".', ["a.b", "--args", '{"numbers":"x","sheet":"@1"}']],
    [
      'sheet in --args: expected a blob; pass a file with --blob, and refer to the first as "@1", got "@1".',
      ["a.b", "--args", '{"numbers":1,"sheet":"@1"}'],
    ],
    [
      "Unknown parameter nmbers in --args. numbers in --args is required: a whole number. Did you mean numbers?",
      ["a.b", "--args", '{"nmbers":1}'],
    ],
    ["Did you mean numbers?", ["a.b", "--args", '{"nmbers":1}']],
    ["--args: expected an object", ["a.b", "--args", "[1]"]],
    ["acp-skills show words prints its instructions; a file under scripts/ runs with --script PATH.", ["words"]],
    ["acp-skills list shows all", ["zzzzzz"]],
  ])("a refusal names options and commands, not tools and parameters: %s", async (told, args) => {
    writeAction(
      "def main(args):\n    pass\n",
      '[inputs.numbers]\ntype = "integer"\nrequired = true\n[inputs.sheet]\ntype = "blob"\n',
    );
    project.write("skills/words/SKILL.md", skillText("words"));
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stdout }).toEqual({ code: /--script|shows all/.test(told) ? 3 : 2, stdout: "" });
    expect(unfolded(stderr)).toContain(told);
    expect(stderr).not.toMatch(/Did you mean.*Available/);
    expect(stderr).not.toMatch(
      /execute_skill|describe_skill|list_skills|create_blob|input_blobs|timeout_ms|violations/,
    );
  });

  test('"@1" without a --blob is reported, and passed on as text', async () => {
    writeAction("def main(args):\n    return args\n");
    const { code, stdout, stderr } = await run("a.b", "--args", '{"sheet":"@1","all":["@2","@x"]}', "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ output: { sheet: "@1", all: ["@2", "@x"] } });
    for (const place of ["@1", "@2"])
      expect(stderr).toContain(`"${place}" in --args refers to a --blob that was not given`);
    expect(stderr).not.toContain("@x");
  });

  test("a --timeout above a limit is reported", async () => {
    writeAction("def main():\n    pass\n", "[limits]\ntimeout_ms = 5000\n");
    const cut = await run("a.b", "--timeout", "9999999");
    expect(cut).toMatchObject({
      code: 0,
      stderr: "acp-skills: --timeout 9999999 is above the limit; the run had 5000 ms\n",
    });
    const own = await run("a.b", "--timeout", "6s");
    expect(own.stderr).toBe("acp-skills: --timeout 6s is above the limit of the skill; the run had 5000 ms\n");
    expect((await run("a.b", "--timeout", "4s")).stderr).toBe("");
  });

  test("--args - reads the arguments from stdin", async () => {
    writeAction("def main(args):\n    return args\n");
    const args = ["run", "a.b", "--dry-run", "--args", "-", ...only];
    const { code, stdout } = await runCli(args, { cwd: project.directory, input: '{"n":1}' });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ spec: { program: { args: { n: 1 } } } });
  });

  test.each([
    [["--timeout", "0"], "--timeout needs a duration such as 10s, 500ms or 2m"],
    [["--script", "x.py", "--args", '{"argv":[]}', "--", "a"], "use one of the two"],
    [["--", "a"], "name it with --script PATH"],
    [["--args", "{"], "--args is not JSON"],
    [["--blob", "nothing.csv"], "--blob nothing.csv: no such file, or it cannot be read"],
    [["--blob", "skills"], "--blob skills: no such file, or it cannot be read"],
    [["--grant", "a.b:all"], "--grant needs NAME@DIGEST, NAME:PERMISSION"],
    [["--grant", "a.bb:secrets"], "--grant a.bb:secrets: unknown skill a.bb; did you mean a.b?"],
  ])("%j is a usage error, and nothing runs", async (args, told) => {
    writeAction("def main():\n    pass\n");
    const { code, stdout, stderr } = await runCli(["run", "a.b", ...only, ...args], { cwd: project.directory });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(told);
  });

  test("SIGINT cancels the run", async () => {
    writeAction("import time\n\ndef main():\n    print('begun', flush=True)\n    time.sleep(60)\n");
    const child = startCli(["run", "a.b", ...only], { cwd: project.directory });
    const ended = once(child, "close");
    const [told] = (await once(child.stderr, "data")) as [Buffer];
    expect(told.toString()).toBe("begun\n");
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
  });
});

test.each([
  ["10s", 10_000],
  ["500ms", 500],
  ["2m", 120_000],
  ["1.5s", 1500],
  ["30000", 30_000],
])("parses %s as %i milliseconds", (text, milliseconds) => {
  expect(parseDuration("--timeout", text)).toBe(milliseconds);
});

test.each(["abc", "0", "0s", "-1", "10 s", "10h", "1e3", "s", ""])("rejects %j with an example", (text) => {
  expect(() => parseDuration("--timeout", text)).toThrow(
    `--timeout needs a duration such as 10s, 500ms or 2m (a plain number is milliseconds), not ${text}`,
  );
});
