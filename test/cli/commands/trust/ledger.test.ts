import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type CliRun, runCli, unfolded } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function ledger(...args: string[]): Promise<CliRun> {
  return await runCli(["ledger", ...args], { cwd: project.directory, env: { ACP_SKILLS_HOME: project.at("data") } });
}

const lines = [
  '{"at":"2026-11-21T10:00:00.000Z","tool":"list_skills","session_id":"s1","door":"mcp"}',
  '{"at":"2026-11-21T10:00:01.500Z","tool":"describe_skill","skill":"pdf-tools","session_id":"s\\u001b1","door":"mcp"}',
  '{"at":"2026-11-21T10:00:02',
  '{"at":"2026-11-21T10:00:03.000Z","tool":"execute_skill","skill":"sums.add","version":"2.0.0","digest":"sha256:aaaaaaaaaaaaaaaa","run_id":"run_abc123","outcome":"failed","code":"ValueError","door":"mcp"}',
  '{"at":"2026-11-21T10:00:04.000Z","tool":"execute_skill","skill":"keys.use","version":"1.0.0","outcome":"refused","code":"PERMISSION_DENIED","door":"mcp"}',
  '{"at":"2026-11-21T10:00:05.000Z","tool":"prompt","skill":"pdf-tools","outcome":"completed","door":"acp"}',
  '{"at":"2026-11-21T10:00:06.000Z","event":"answer","tool":"execute_skill","skill":"sums.add","version":"2.0.0","digest":"sha256:aaaaaaaaaaaaaaaa","outcome":"allowed","answer":"trust","grant":"grant_01","door":"mcp"}',
  "",
];

const nothing = {
  ...{ event: null, skill: null, version: null, digest: null, outcome: null, code: null, run_id: null },
  ...{ about: null, answer: null, grant: null, session_id: null, subagent: null },
  ...{ caller: null, project: null, asked: null, isolation: null, count: null },
};

describe("acp-skills ledger", () => {
  test("prints every use in a table, escapes control characters and skips a truncated line", async () => {
    project.write("data/ledger/000001.jsonl", lines.join("\n"));
    expect(await ledger()).toEqual({
      code: 0,
      stdout: [
        "WHEN                  WHAT            SKILL      VERSION  DIGEST        OUTCOME                    RUN         DOOR  SESSION   DETAILS",
        "2026-11-21T10:00:00Z  list_skills                                                                              mcp   s1",
        "2026-11-21T10:00:01Z  describe_skill  pdf-tools                                                                mcp   s\\u{1b}1",
        "2026-11-21T10:00:03Z  execute_skill   sums.add   2.0.0    aaaaaaaaaaaa  failed ValueError          run_abc123  mcp",
        "2026-11-21T10:00:04Z  execute_skill   keys.use   1.0.0                  refused PERMISSION_DENIED              mcp",
        "2026-11-21T10:00:05Z  prompt          pdf-tools                         completed                              acp",
        "2026-11-21T10:00:06Z  answer          sums.add   2.0.0    aaaaaaaaaaaa  allowed                                mcp             trust, by grant_01",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  test("--json prints the same entries as one JSON value", async () => {
    project.write("data/ledger/000001.jsonl", lines.join("\n"));
    expect(JSON.parse((await ledger("--json")).stdout)).toEqual({
      schemaVersion: 1,
      uses: [
        { ...nothing, at: "2026-11-21T10:00:00.000Z", tool: "list_skills", session_id: "s1", door: "mcp" },
        expect.objectContaining({ tool: "describe_skill", skill: "pdf-tools", session_id: "s\u001b1" }),
        {
          ...nothing,
          at: "2026-11-21T10:00:03.000Z",
          tool: "execute_skill",
          skill: "sums.add",
          version: "2.0.0",
          digest: "sha256:aaaaaaaaaaaaaaaa",
          run_id: "run_abc123",
          outcome: "failed",
          code: "ValueError",
          door: "mcp",
        },
        expect.objectContaining({ outcome: "refused", code: "PERMISSION_DENIED" }),
        expect.objectContaining({ tool: "prompt", outcome: "completed" }),
        expect.objectContaining({ event: "answer", answer: "trust", grant: "grant_01" }),
      ],
    });
  });

  test.each([
    ["--skill sums.add", ["execute_skill", "answer"]],
    ["--skill sums-add --outcome allowed", ["answer"]],
    ["--outcome refused", ["execute_skill"]],
    ["--since 2026-11-21T10:00:05", ["prompt", "answer"]],
    ["--since 2026-11-21T12:00:05+02:00 --skill pdf-tools", ["prompt"]],
  ])("%s shows only that", async (args, expected) => {
    project.write("data/ledger/000001.jsonl", lines.join("\n"));
    const { uses } = JSON.parse((await ledger("--json", ...args.split(" "))).stdout) as {
      uses: { event: string | null; tool: string }[];
    };
    expect(uses.map(({ event, tool }) => event ?? tool)).toEqual(expected);
  });

  test("says that nothing matches, and what a wrong option should be", async () => {
    project.write("data/ledger/000001.jsonl", lines.join("\n"));
    const nothing = { code: 0, stdout: "", stderr: "acp-skills: nothing in the ledger matches\n" };
    expect(await ledger("--skill", "absent")).toEqual(nothing);
    const since = await ledger("--since", "yesterday");
    expect(since).toMatchObject({ code: 2, stdout: "" });
    expect(unfolded(since.stderr)).toContain(
      "--since needs a duration such as 90m or 7d, or a date such as 2026-11-22",
    );
    const outcome = await ledger("--outcome", "alowed");
    expect(outcome).toMatchObject({ code: 2, stdout: "" });
    expect(outcome.stderr).toContain("allowed");
  });

  test("filters by caller, project and grant", async () => {
    const row = (facts: object): string =>
      JSON.stringify({ at: "2026-11-21T10:00:00.000Z", tool: "execute_skill", door: "http", ...facts });
    const rows = [
      row({ caller: "ci", skill: "a", isolation: "none", grant: "grant_01" }),
      row({ caller: "kim", project: "/work/one/sub", skill: "b" }),
      row({ caller: "kim", project: "/work/one-more", asked: "hidden", count: 7 }),
    ];
    project.write("data/ledger/000001.jsonl", rows.join("\n") + "\n");
    const skills = async (...args: string[]): Promise<unknown[]> => {
      const { uses } = JSON.parse((await ledger("--json", ...args)).stdout) as { uses: { skill: string | null }[] };
      return uses.map(({ skill }) => skill);
    };
    expect(await skills("--caller", "kim")).toEqual(["b", null]);
    expect(await skills("--project", "/work/one")).toEqual(["b"]);
    expect(await skills("--grant", "grant_01")).toEqual(["a"]);
    expect(await skills("--skill", "hidden")).toEqual([null]);
    const { stdout } = await ledger();
    expect(stdout).toContain("WITHOUT A SANDBOX, by grant_01");
    expect(stdout).toMatch(/kim {2}\/work\/one-more {2}execute_skill {2}"hidden" {2}http {2}7 times more/);
  });

  test("verify says what is intact, and names the first row that was changed", async () => {
    const env = { ACP_SKILLS_HOME: project.at("data") };
    for (let call = 0; call < 3; call++)
      await runCli(["call", "load_skills_protocol_guide"], { cwd: project.directory, env });
    const intact = await ledger("verify");
    expect(intact.code).toBe(0);
    expect(intact.stdout).toMatch(/^uses {7}rows 1 to 3 {2}intact {2}[0-9a-f]{64}$/m);
    const rows = readFileSync(project.at("data/ledger/000001.jsonl"), "utf8").split("\n");
    project.write("data/ledger/000001.jsonl", [rows[0], rows[2], ""].join("\n"));
    const { code, stdout } = await ledger("verify", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      intact: false,
      rooms: [{ room: "decisions" }, { room: "runs" }, { room: "uses", fault: { row: 2 } }],
    });
    expect((await ledger("--audit", "x")).code).toBe(2);
    expect((await ledger("verify", "--audit", "no-such-file")).code).toBe(2);
  });

  test("contains calls made on the command line", async () => {
    const env = { ACP_SKILLS_HOME: project.at("data") };
    await runCli(["call", "load_skills_protocol_guide"], { cwd: project.directory, env });
    expect((await ledger()).stdout).toMatch(
      /^\S+Z {2}\S.* {2}load_skills_protocol_guide {2}skills\.protocol\.guide {2}0\.1\.0 {4}completed {2}cli/m,
    );
  });

  test("an empty ledger is reported; an unreadable one exits with 3", async () => {
    expect(await ledger()).toEqual({ code: 0, stdout: "", stderr: "acp-skills: the ledger is empty\n" });
    project.write("other", "a file");
    const env = { ACP_SKILLS_HOME: project.at("other") };
    const { code, stdout, stderr } = await runCli(["ledger"], { cwd: project.directory, env });
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toMatch(/^acp-skills: The ledger in .* cannot be read: .*\n$/);
  });
});
