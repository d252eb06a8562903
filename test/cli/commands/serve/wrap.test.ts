import { chmodSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runProcess, startCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "../../temporary-project.ts";

const project = useTemporaryProject();

async function wrap(args: readonly string[], input = "") {
  return await runProcess(args, { cwd: project.directory, input });
}

const echo = "process.stdin.pipe(process.stdout)";

test("passes bytes through unchanged", async () => {
  const input = '{"jsonrpc":"2.0","method":"é","params":{"big":12345678901234567890}}\nnot json\ntail';
  expect(await wrap(["--", process.execPath, "-e", echo], input)).toMatchObject({ code: 0, stdout: input });
});

test("exits with the exit code of the agent", async () => {
  expect(await wrap(["--", process.execPath, "-e", "process.exit(7)"])).toMatchObject({ code: 7, stdout: "" });
});

test("passes all arguments after -- to the agent, even those that look like its own options", async () => {
  const agent = "console.log(JSON.stringify(process.argv.slice(1)))";
  const { stdout } = await wrap(["--no-default-roots", "--", process.execPath, "-e", agent, "--", "--help", "list"]);
  expect(stdout).toBe('["--help","list"]\n');
});

test("a missing agent exits with 127, one that is not executable with 126, each with a message", async () => {
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

test("a log behind a link of the project is a usage error", async () => {
  const home = project.write("home/.bashrc", "mine\n");
  symlinkSync(project.at("home"), project.at("logs"));
  symlinkSync(home, project.at("acp.log"));
  for (const log of ["acp.log", "logs/.bashrc"]) {
    const { code, stdout, stderr } = await wrap(["--log", log, "--", process.execPath, "-e", "console.log(1)"]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`cannot open --log ${log}: the path contains a symbolic link`);
  }
  expect(readFileSync(home, "utf8")).toBe("mine\n");
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
  expect(stderr).toMatch(/^acp-skills: cannot open --log missing\/log\.txt: /);
});

test.skipIf(process.platform === "win32")("is terminated by the same signal as the agent", async () => {
  const { code } = await wrap(["--", process.execPath, "-e", 'process.kill(process.pid, "SIGKILL")']);
  expect(code).toBeNull();
});

test("a misspelt --skills is reported, also where there are other skills", async () => {
  project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
  const agent = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));
  const child = startCli(["--skills", "skils", "--", process.execPath, agent], { cwd: project.directory });
  const ended = once(child, "close");
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  child.stdout.resume();
  send({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  send({ id: 1, method: "session/new", params: { cwd: project.directory, mcpServers: [] } });
  const [told] = (await once(child.stderr, "data")) as [Buffer];
  child.stdin.end();
  await ended;
  const place = project.at("skils");
  expect(told.toString()).toBe(
    `acp-skills: ${place}:1:1 unreadable: ${place} does not exist. Create it, or name another directory.\n`,
  );
});

test("a grant without effect is reported once, not once a session", async () => {
  project.write("own/pdf/SKILL.md", skillText("pdf"));
  const agent = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));
  const args = ["--skills", "own", "--grant", "pdf:network", "--grant", "pfd:network", "--", process.execPath, agent];
  const child = startCli(args, { cwd: project.directory });
  const ended = once(child, "close");
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  child.stdout.resume();
  send({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  send({ id: 1, method: "session/new", params: { cwd: project.directory, mcpServers: [] } });
  send({ id: 2, method: "session/new", params: { cwd: project.at("own"), mcpServers: [] } });
  await once(child.stderr, "data");
  child.stdin.end();
  await ended;
  expect(told).toBe("acp-skills: The grant pfd:network has no effect: unknown skill pfd; did you mean pdf?\n");
});

test("continues if the editor closes stderr", async () => {
  const cwd = project.directory;
  const child = startCli(["--skills", "missing", "--", process.execPath, "-e", `console.log("not json"); ${echo}`], {
    cwd,
  });
  child.stderr.destroy();
  const ended = once(child, "close");
  child.stdin.write('{"id":0,"method":"initialize","params":{"protocolVersion":1}}\n');
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  await once(child.stdout, "data");
  child.stdin.end("last\n");
  expect(await ended).toEqual([0, null]);
  expect(stdout).toMatch(/last\n$/);
});

test.skipIf(process.platform === "win32")(
  "closes stdout when the agent closes its own, which may read on",
  async () => {
    const child = startCli(["--", "sh", "-c", "echo '{}'; exec 1>&-; cat >read; exit 3"], { cwd: project.directory });
    const ended = once(child, "close");
    let stdout = "";
    child.stdout.on("data", (text: Buffer) => (stdout += text.toString()));
    await once(child.stdout, "end");
    expect(stdout).toBe("{}\n");
    // Nothing that is opened later gets descriptor 1.
    if (process.platform === "linux")
      await expect.poll(() => readlinkSync(`/proc/${String(child.pid)}/fd/1`), { timeout: 10_000 }).toBe("/dev/null");
    const message = '{"jsonrpc":"2.0","method":"_later"}\n';
    child.stdin.end(message);
    expect(await ended).toEqual([3, null]);
    expect(readFileSync(`${project.directory}/read`, "utf8")).toBe(message);
  },
);
const scripted = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));

/** Returns what the editor receives for one prompt, up to the response or a permission request. */
async function converse(
  words: string,
  options: readonly string[],
  manner: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  project.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n");
  const child = startCli(["--skills", "skills", ...options, "--", process.execPath, scripted, ...manner], {
    cwd: project.directory,
    env,
  });
  let received = "";
  const ended = new Promise((resolve) => child.once("close", resolve));
  const seen = (what: RegExp): Promise<void> =>
    new Promise((resolve) => {
      child.stdout.on("data", () => {
        if (what.test(received)) resolve();
      });
    });
  child.stdout.on("data", (chunk: Buffer) => (received += chunk.toString()));
  const send = (message: object): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const opened = seen(/"sessionId":"session-1"/);
  send({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
  send({ id: 1, method: "session/new", params: { cwd: project.directory, mcpServers: [] } });
  await opened;
  const over = seen(/"(?:stopReason|error)"|request_permission/);
  const prompt = [{ type: "text", text: words }];
  send({ id: 2, method: "session/prompt", params: { sessionId: "session-1", prompt } });
  await over;
  child.stdin.end();
  await ended;
  return received;
}

test.each([
  ["an agent without HTTP", [], []],
  ["any agent, by option", ["--tools", "stdio"], ["http"]],
])("lets the model call a tool over stdio: %s", async (_which, options, manner) => {
  const received = await converse('tool describe_skill {"name":"pdf"}', options, manner);
  expect(received).toContain("Reads PDF files.");
  expect(received).not.toContain("no server");
});

test("gives the agent no MCP server with --tools none", async () => {
  expect(await converse("tool list_skills", ["--tools", "none"], [])).toContain('"no server"');
});

test("lists the skills in prompts, but not with --no-instruct-model", async () => {
  const lesson = String.raw`/pdf/SKILL.md): \\\"Reads PDF files.\\\"`;
  expect(await converse("echo", [], [])).toContain(lesson);
  expect(await converse("echo", ["--no-instruct-model"], [])).not.toContain(lesson);
});

test("runs no command of the instructions, whoever reads them: the model, the editor or /name", async () => {
  const marks = "!`touch ran-by-mark`\n\n```!\ntouch ran-by-block\n```";
  const text = `---\nname: notes\ndescription: Takes notes.\n---\n${marks}\n`;
  project.write("skills/notes/SKILL.md", text);
  const full = '{"name":"notes","detail":"full"}';
  const received = await converse(
    `tool describe_skill ${full}; tool read_skill_file {"name":"notes","path":"SKILL.md"}`,
    [],
    [],
  );
  expect(received).toContain("touch ran-by-mark");
  expect(await converse("/notes echo", [], [])).toContain("touch ran-by-block");
  expect(readdirSync(project.directory).filter((name) => name.startsWith("ran-by"))).toEqual([]);
});

test("approves read-only tools without asking the editor, but not with --no-answer-permissions", async () => {
  expect(await converse("permit list_skills", [], [])).not.toContain("request_permission");
  expect(await converse("permit list_skills", ["--no-answer-permissions"], [])).toContain("request_permission");
});

test.each([
  ["without a grant", [], "a value", "Secret ACP_SKILLS_ABSENT_KEY: run"],
  ["without a grant or a value, asks nobody and", [], "", "SECRET_MISSING"],
  ["with a grant but no value", ["--grant", "key.use:secrets"], "", "SECRET_MISSING"],
])("%s, refuses the model's call of a skill that needs a secret", async (_how, options, value, told) => {
  writeSecretAction(project);
  const env = value === "" ? {} : { ACP_SKILLS_ABSENT_KEY: value };
  const received = await converse('tool execute_skill {"name":"key.use"}', options, [], env);
  expect(received).toContain(told);
});

test("reports an invalid grant as a usage error and does not start the agent", async () => {
  const { code, stdout, stderr } = await wrap(["--grant", "pdf:all", "--", process.execPath, "-e", "console.log(1)"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("--grant needs NAME@DIGEST, NAME:PERMISSION");
});
