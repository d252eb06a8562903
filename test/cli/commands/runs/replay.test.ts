import { describe, expect, test } from "vitest";
import { type CliRun, runCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "../../temporary-project.ts";

const project = useTemporaryProject();
const only = ["--no-default-roots", "--skills", "skills"];

async function cli(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliRun> {
  return await runCli([...args, ...only], { cwd: project.directory, env });
}

/** Runs something and returns its run id. */
async function run(...args: readonly string[]): Promise<string> {
  const { stdout } = await cli(args);
  return (JSON.parse(stdout) as { run_id: string }).run_id;
}

function writeAction(code: string): void {
  const manifest = 'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"\n';
  project.write("skills/a.b/SKILL.md", "---\nname: A\nshort_description: Acts.\n---\n");
  project.write("skills/a.b/skill.toml", `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n`);
  project.write("skills/a.b/main.py", code);
}

describe("acp-skills replay", () => {
  test("says that an action gives the same output and files, and is a run of its own in list and ledger", async () => {
    writeAction(
      "def main(args):\n    open('/output/out.csv', 'w').write('a,b')\n    return {'n': args['n'], 'long': 'x' * 9000}\n",
    );
    const id = await run("run", "a.b", "--args", '{"n":1}', "--json");
    const { code, stdout, stderr } = await cli(["replay", id]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [, again = ""] = /^✓ same: (run_\w+) gave the same output as run_\w+\n$/.exec(stdout) ?? [];
    const home = { cwd: project.directory };
    expect((await runCli(["runs", "show", again], home)).stdout).toContain(`replay of   ${id}`);
    const ledger = await runCli(["ledger", "--json", "--since", "1h", "--skill", "a-b"], home);
    const { uses } = JSON.parse(ledger.stdout) as { uses: { tool: string; run_id: string; digest: string }[] };
    expect(uses.map(({ tool, run_id }) => [tool, run_id])).toEqual([
      ["execute_skill", id],
      ["replay", again],
    ]);
    expect(uses[1]?.digest).toBe(uses[0]?.digest);
  });

  test("runs code of a model and a script with a blob again", async () => {
    project.write("skills/words/SKILL.md", skillText("words"));
    const input = { language: "python", code: "def main(args):\n    return sorted(args['x'])\n", args: { x: [2, 1] } };
    project.write("input.json", JSON.stringify(input));
    expect((await cli(["replay", await run("call", "run_code", "@input.json")])).code).toBe(0);
    project.write("skills/words/scripts/say.py", "import sys\nprint(open('/blobs/' + sys.argv[1]).read())\n");
    project.write("sheet.csv", "a,b");
    const script = ["run", "words", "--script", "scripts/say.py", "--args", '{"argv":["@1"]}', "--blob", "sheet.csv"];
    const id = await run(...script, "--json");
    const { code, stdout, stderr } = await cli(["replay", id]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "a,b\n" });
    expect(stdout).toContain("✓ same");
    const blobs = await runCli(["blobs", "list", "--json"], { cwd: project.directory });
    const [blob = ""] = /blob:[0-9a-f]{32}/.exec(blobs.stdout) ?? [];
    await runCli(["blobs", "rm", blob], { cwd: project.directory });
    expect(await cli(["replay", id])).toEqual({
      code: 3,
      stdout: "",
      stderr: `acp-skills: The run ${id} cannot be replayed:\n  the blob ${blob} is no longer stored.\n`,
    });
  });

  test("prints what is different, and exits with 1", async () => {
    writeAction(
      "import time\ndef main(args):\n    print(time.time_ns())\n    return {'at': time.time_ns(), 'same': 1}\n",
    );
    const id = await run("run", "a.b", "--json");
    const { code, stdout } = await cli(["replay", id]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^✗ different: run_\w+ gave another output than run_\w+\n {2}output\/at: \d+ → \d+\n {2}does not count: logs line 1: "\d+" → "\d+"\n$/,
    );
    const json = await cli(["replay", id, "--json"]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({
      same: false,
      replays: id,
      differences: [{ where: "output/at", before: expect.any(String) as string, after: expect.any(String) as string }],
      asides: [{ where: "logs line 1" }],
      notes: [],
      result: { status: "completed" },
    });
  });

  test("is refused if the skill changed, if it is not approved, and for an unknown run", async () => {
    writeAction("def main(args):\n    return 1\n");
    const id = await run("run", "a.b", "--json");
    project.write("skills/a.b/main.py", "def main(args):\n    return 2\n");
    const changed = await cli(["replay", id]);
    expect({ code: changed.code, stdout: changed.stdout }).toEqual({ code: 3, stdout: "" });
    expect(unfolded(changed.stderr)).toMatch(
      /the skill a\.b 1\.0\.0 \(sha256:\w{12}…\) is no longer installed: its files changed since\./,
    );
    const json = await cli(["replay", id, "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({ data: { code: "NOT_EXECUTABLE" } });
    writeSecretAction(project);
    const key = { ACP_SKILLS_ABSENT_KEY: "hunter2hunter2" };
    const granted = await cli(["run", "key.use", "--grant", "key.use:secrets", "--json"], key);
    const { run_id } = JSON.parse(granted.stdout) as { run_id: string };
    const refused = await cli(["replay", run_id], key);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain("key.use needs approval");
    const allowed = await cli(["replay", run_id, "--grant", "key.use:secrets"], key);
    expect(allowed).toMatchObject({ code: 0, stderr: "" });
    expect(allowed.stdout).toContain("note: The values of ACP_SKILLS_ABSENT_KEY were read again");
    const unknown = await cli(["replay", "run_0000000000"]);
    expect(unfolded(unknown.stderr)).toBe(
      "acp-skills: The run run_0000000000 cannot be replayed: it is not among the runs of the last 24 hours. acp-skills runs list shows them.\n",
    );
  });
});
