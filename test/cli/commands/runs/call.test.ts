import { mkdirSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type OpenTransport, describeTransports, transportSkills } from "../../../transports.ts";
import { type CliRun, runCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function call(args: readonly string[], input?: string): Promise<CliRun> {
  return await runCli(["call", ...args], { cwd: project.directory, ...(input !== undefined && { input }) });
}

function toReply({ code, stdout, stderr }: CliRun): Awaited<ReturnType<OpenTransport["call"]>> {
  if (code === 0) return { result: JSON.parse(stdout) as unknown };
  if ((code !== 2 && code !== 3) || stdout !== "") throw new Error(`not a refusal: ${stdout}${stderr}`);
  const { schemaVersion, ...error } = JSON.parse(stderr) as { schemaVersion: number; code: number; data: object };
  expect(schemaVersion).toBe(1);
  return { error };
}

describeTransports(
  "of the command line",
  (directory) => {
    for (const [file, text] of Object.entries(transportSkills)) project.write(`skills/${file}`, text);
    return Promise.resolve({
      call: async (tool, args) =>
        toReply(
          await call([tool, JSON.stringify(args), "--no-default-roots", "--skills", "skills", "--cwd", directory]),
        ),
      close: () => Promise.resolve(),
    });
  },
  "people",
);

describe("acp-skills call", () => {
  test("takes its input from the command line, from a file, from stdin, or has none", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    project.write("input.json", '{"limit": 1}');
    const one = { result: expect.objectContaining({ skills: [{ name: "alpha", version: "0.0.0" }] }) as unknown };
    expect(toReply(await call(["list_skills", '{"limit":1}']))).toEqual(one);
    expect(toReply(await call(["list_skills", "@input.json"]))).toEqual(one);
    expect(toReply(await call(["list_skills", "-"], '{"limit":1}\n'))).toEqual(one);
    expect(toReply(await call(["list_skills"]))).toMatchObject({ result: { skills: [{}, {}], next_cursor: null } });
  });

  test("uses the skills of --cwd", async () => {
    project.write("work/.claude/skills/beta/SKILL.md", skillText("beta"));
    expect(toReply(await call(["list_skills", "--cwd", "work"]))).toMatchObject({
      result: { skills: [{ name: "beta" }, {}] },
    });
  });

  test("an unknown tool is an error with the nearest names", async () => {
    const { code, stdout, stderr } = await call(["list_skils"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({
      code: -32601,
      data: { code: "METHOD_NOT_FOUND", available: expect.arrayContaining(["list_skills"]) as string[] },
    });
  });

  test.each([
    [["list_skills", "{limit"], /^acp-skills: INPUT is not JSON: .*\n  \(see acp-skills call --help\)\n$/],
    [["list_skills", "@nothing.json"], /^acp-skills: nothing\.json cannot be read: .*\n  \(see .*\)\n$/],
    [["list_skills", "{}", "more"], /^acp-skills: unexpected argument more /],
    [["list_skills", "--skills", "nowhere"], /^acp-skills: --skills .*nowhere: no such directory\n$/],
    [["list_skills", "--cwd", "nowhere"], /^acp-skills: --cwd .*nowhere: no such directory\n$/],
  ])("%j is a usage error: exit code 2, and nothing is called", async (args, stderr) => {
    expect(await call(args)).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(stderr) as string });
  });

  test("a byte order mark is ignored, and bytes that are not UTF-8 are refused", async () => {
    writeFileSync(project.at("marked.json"), '\ufeff{"limit": 1}');
    expect(await call(["list_skills", "@marked.json"])).toMatchObject({ code: 0 });
    writeFileSync(project.at("latin.json"), Buffer.from('{"content": "caf\u00e9", "kind": "text/plain"}', "latin1"));
    expect(await call(["create_blob", "@latin.json"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "acp-skills: latin.json is not UTF-8 (see acp-skills call --help)\n",
    });
  });

  test("invalid JSON on stdin is a usage error", async () => {
    expect(await call(["list_skills", "-"], "")).toMatchObject({ code: 2, stdout: "" });
  });

  test("control characters in skills are escaped", async () => {
    mkdirSync(project.at(".agents/skills/odd"), { recursive: true });
    writeFileSync(project.at(".agents/skills/odd/SKILL.md"), `${skillText("odd")}\u001b[31m \u009b31m \u202e`);
    const { code, stdout } = await call(["read_skill_file", '{"name":"odd","path":"SKILL.md"}']);
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[\u001b\u009b\u202e]/);
    expect((JSON.parse(stdout) as { content: string }).content).toContain("\u001b[31m \u009b31m \u202e");
  });
});
