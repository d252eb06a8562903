import { describe, expect, test } from "vitest";
import { runCli } from "../run-cli.ts";
import type { CliRun } from "../run-cli.ts";
import { useTemporaryProject } from "../temporary-project.ts";

const project = useTemporaryProject();

async function ledger(...args: string[]): Promise<CliRun> {
  return await runCli(["ledger", ...args], { cwd: project.directory, env: { ACP_SKILLS_HOME: project.at("data") } });
}

const lines = [
  '{"at":"2026-11-21T10:00:00.000Z","tool":"list_skills","session_id":"s1","door":"mcp"}',
  '{"at":"2026-11-21T10:00:01.500Z","tool":"describe_skill","skill":"pdf-tools","session_id":"s\\u001b1","door":"mcp"}',
  '{"at":"2026-11-21T10:00:02',
  "",
];

describe("acp-skills ledger", () => {
  test("shows every use in a table, safely, and passes over a torn line", async () => {
    project.write("data/ledger/000001.jsonl", lines.join("\n"));
    expect(await ledger()).toEqual({
      code: 0,
      stdout: [
        "WHEN                  TOOL            SKILL      DOOR  SESSION",
        "2026-11-21T10:00:00Z  list_skills                mcp   s1",
        "2026-11-21T10:00:01Z  describe_skill  pdf-tools  mcp   s\\u{1b}1",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  test("--json gives the same as one value", async () => {
    project.write("data/ledger/000001.jsonl", lines.join("\n"));
    expect(JSON.parse((await ledger("--json")).stdout)).toEqual({
      uses: [
        { at: "2026-11-21T10:00:00.000Z", tool: "list_skills", skill: null, session_id: "s1", door: "mcp" },
        {
          at: "2026-11-21T10:00:01.500Z",
          tool: "describe_skill",
          skill: "pdf-tools",
          session_id: "s\u001b1",
          door: "mcp",
        },
      ],
    });
  });

  test("a call through the command line is in it", async () => {
    const env = { ACP_SKILLS_HOME: project.at("data") };
    await runCli(["call", "load_skills_protocol_guide"], { cwd: project.directory, env });
    expect((await ledger()).stdout).toMatch(/^\S+Z {2}load_skills_protocol_guide {2}skills\.protocol\.guide {2}cli/m);
  });

  test("an empty one says so; one that cannot be read is one sentence and exit code 1", async () => {
    expect(await ledger()).toEqual({ code: 0, stdout: "", stderr: "acp-skills: the ledger is empty\n" });
    project.write("other", "a file");
    const env = { ACP_SKILLS_HOME: project.at("other") };
    const { code, stdout, stderr } = await runCli(["ledger"], { cwd: project.directory, env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^acp-skills: The ledger in .* cannot be read: .*\n$/);
  });
});
