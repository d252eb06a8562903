import { chmodSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runCli, startCli } from "./run-cli.ts";
import { useTemporaryProject } from "./temporary-project.ts";

const project = useTemporaryProject();

async function wrap(args: readonly string[], input = "") {
  return await runCli(args, { cwd: project.directory, input });
}

const echo = "process.stdin.pipe(process.stdout)";

test("bytes pass through the wrapper as they are", async () => {
  const input = '{"jsonrpc":"2.0","method":"é","params":{"big":12345678901234567890}}\nnot json\ntail';
  expect(await wrap(["--", process.execPath, "-e", echo], input)).toMatchObject({ code: 0, stdout: input });
});

test("the agent's exit code is the wrapper's", async () => {
  expect(await wrap(["--", process.execPath, "-e", "process.exit(7)"])).toMatchObject({ code: 7, stdout: "" });
});

test("what follows -- belongs to the agent, also where it looks like an option of ours", async () => {
  const agent = "console.log(JSON.stringify(process.argv.slice(1)))";
  const { stdout } = await wrap(["--no-default-roots", "--", process.execPath, "-e", agent, "--", "--help", "list"]);
  expect(stdout).toBe('["--help","list"]\n');
});

test("an agent that is not there gives 127, one that cannot be run 126, each with a sentence", async () => {
  const missing = await wrap(["--", "no-such-agent-anywhere"]);
  expect(missing).toMatchObject({ code: 127, stdout: "" });
  expect(missing.stderr).toMatch(/^acp-skills: .*no-such-agent-anywhere.*not found.*\n$/);
  const file = project.write("agent", "text");
  chmodSync(file, 0o644);
  const closed = await wrap(["--", file]);
  expect(closed).toMatchObject({ code: 126, stdout: "" });
  expect(closed.stderr).toMatch(/^acp-skills: .*could not be started.*\n$/);
});

test("--log appends diagnostics with times; errors still go to stderr", async () => {
  const log = project.write("log.txt", "before\n");
  const { code, stderr } = await wrap(["--log", "log.txt", "--", "no-such-agent-anywhere"]);
  expect(code).toBe(127);
  expect(readFileSync(log, "utf8")).toMatch(/^before\n\d{4}-\d\d-\d\dT[\d:.]+Z error .*not found/);
  expect(stderr).toContain("not found");
});

test("a log that cannot be opened is a usage error, and the agent is not started", async () => {
  const { code, stdout, stderr } = await wrap([
    "--log",
    "missing/log.txt",
    "--",
    process.execPath,
    "-e",
    "console.log(1)",
  ]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^acp-skills: --log missing\/log\.txt cannot be opened: /);
});

test.skipIf(process.platform === "win32")("an agent that dies by a signal takes the wrapper with it", async () => {
  const { code } = await wrap(["--", process.execPath, "-e", 'process.kill(process.pid, "SIGKILL")']);
  expect(code).toBeNull();
});

const scripted = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));

/** A conversation in which the agent of a session without HTTP calls one of our tools. */
async function callTool(words: string, options: readonly string[], manner: readonly string[]): Promise<string> {
  project.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n");
  const child = startCli(["--skills", "skills", ...options, "--", process.execPath, scripted, ...manner], {
    cwd: project.directory,
  });
  let received = "";
  const ended = new Promise((resolve) => child.once("close", resolve));
  const seen = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      received += chunk.toString();
      if (/"(?:stopReason|error)"/.test(received)) resolve();
    });
  });
  const prompt = [{ type: "text", text: words }];
  for (const [id, [method, params]] of [
    ["initialize", { protocolVersion: 1 }] as const,
    ["session/new", { cwd: project.directory, mcpServers: [] }] as const,
    ["session/prompt", { sessionId: "session-1", prompt }] as const,
  ].entries())
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  await seen;
  child.stdin.end();
  await ended;
  return received;
}

test.each([
  ["an agent without HTTP", [], []],
  ["any agent, by option", ["--tools", "stdio"], ["http"]],
])("over stdio, the model of %s calls a tool", async (_which, options, manner) => {
  const received = await callTool('tool describe_skill {"name":"pdf"}', options, manner);
  expect(received).toContain("Reads PDF files.");
  expect(received).not.toContain("no server");
});

test("with --tools none the agent gets no server, and the editor's calls are the agent's", async () => {
  expect(await callTool("tool list_skills", ["--tools", "none"], [])).toContain('"no server"');
});
