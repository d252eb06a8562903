import { beforeEach, describe, expect, test } from "vitest";
import { type StoredRun, diskRunStore } from "../../../../src/runtime/runs/run-store.ts";
import { keptRunOf } from "../../../contract/run-store.ts";
import { type CliRun, runCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function cli(...args: string[]): Promise<CliRun> {
  return await runCli(args, { cwd: project.directory, env: { ACP_SKILLS_HOME: project.at("data") } });
}

async function keep(...kept: readonly StoredRun[]): Promise<void> {
  const store = diskRunStore(project.at("data", "runs"), { log: () => undefined });
  for (const run of kept) store.keep(run);
  await store.close();
}

const version = { name: "a.b", slug: "a-b", version: "1.2.0", digest: "sha256:abc" };
let completed: StoredRun;
let refused: StoredRun;
let now = 0;

beforeEach(() => {
  now = Date.now();
  const { error, ...base } = keptRunOf(1, { createdAt: now - 1_000, owner: "session:s1@x" });
  completed = {
    ...base,
    spec: {
      ...base.spec,
      program: { type: "skill", skill: "a.b", args: { x: "\u001b[31m" } },
      skill: version,
      mounts: [version],
    },
    status: "completed",
    events: [
      { atMs: 0, type: "queued" },
      { atMs: 9, type: "ended", status: "completed" },
    ],
    result: {
      status: "completed",
      run_id: base.spec.runId,
      summary: "Completed.",
      output: { n: 1 },
      output_blobs: [],
      logs_preview: "hello\n",
      duration_ms: 9,
      limits_applied: { timeout_ms: 30_000, memory_mb: 512, isolation: "memory" },
    },
  };
  refused = { ...keptRunOf(2, { createdAt: now, code: "def main():\n    pass\n" }), ...(error && { error }) };
});

describe("acp-skills runs", () => {
  test("list shows the runs of all owners, newest first", async () => {
    await keep(completed, refused);
    const { code, stdout, stderr } = await cli("runs", "list");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/\s{2,}/));
    const when = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string;
    expect(rows).toEqual([
      ["WHEN", "RUN", "STATUS", "DOOR", "WHAT"],
      [when, "run_0000000002", "refused", "cli", "code, def main():"],
      [when, "run_0000000001", "completed", "cli", "a.b 1.2.0"],
    ]);
    expect(JSON.parse((await cli("runs", "list", "--json")).stdout)).toEqual({
      schemaVersion: 1,
      runs: [refused, completed],
    });
  });

  test("show prints the spec, the events and the result, without control characters", async () => {
    await keep(completed, refused);
    const { code, stdout } = await cli("runs", "show", "run_0000000001");
    expect(code).toBe(0);
    for (const part of ["a.b 1.2.0", "sha256:abc", "session:s1@x", "9 ms", "Completed.", '"n": 1', "hello"])
      expect(stdout).toContain(part);
    expect(stdout).not.toContain("\u001b");
    expect(JSON.parse((await cli("runs", "show", "run_0000000001", "--json")).stdout)).toEqual({
      schemaVersion: 1,
      ...completed,
    });
    expect((await cli("runs", "show", "run_0000000002")).stdout).toContain("RUNTIME_BUSY: The queue is full.");
  });

  test("reports an empty list, exits with 3 for an unknown run, and skips a damaged record with a warning", async () => {
    expect(await cli("runs", "list")).toMatchObject({ code: 0, stderr: "acp-skills: no runs in the last 24 hours\n" });
    expect(await cli("runs", "show", "run_0000000009")).toEqual({
      code: 3,
      stdout: "",
      stderr: "acp-skills: there is no run run_0000000009 in the last 24 hours; acp-skills runs list shows all\n",
    });
    project.write(`data/runs/0123/${now}-run_0000000003.json`, "{");
    const damaged = await cli("runs", "list");
    expect(damaged.code).toBe(0);
    expect(damaged.stderr).toContain("was skipped");
  });

  test("contains runs made on the command line", async () => {
    const manifest = 'name = "a.b"\nversion = "1.0.0"\ndescription = "Acts."\nkind = "action"\n';
    project.write("skills/a.b/SKILL.md", "---\nname: A\nshort_description: Acts.\n---\n");
    project.write("skills/a.b/skill.toml", `${manifest}[runtime]\nlanguage = "python"\nentrypoint = "main.py"\n`);
    project.write("skills/a.b/main.py", "def main(args):\n    return args\n");
    const args = ["run", "a.b", "--args", '{"n":1}', "--no-default-roots", "--skills", "skills", "--json"];
    const { run_id } = JSON.parse((await cli(...args)).stdout) as { run_id: string };
    expect(JSON.parse((await cli("runs", "show", run_id, "--json")).stdout)).toMatchObject({
      status: "completed",
      spec: { runId: run_id, program: { args: { n: 1 } }, owner: "local" },
      result: { output: { n: 1 } },
    });
  });
});
