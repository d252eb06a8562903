import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { legacyCall } from "../../../mcp/raw-request.ts";
import { initialize, openStdioClient } from "../../../mcp/stdio-client.ts";
import { runProcess, startCli } from "../../run-cli.ts";
import { skillText, useTemporaryProject, writeSecretAction } from "../../temporary-project.ts";

const project = useTemporaryProject();

describe("acp-skills mcp", () => {
  it("serves the project's skills and those of --skills on stdio, and exits when stdin ends", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    project.write("more/beta/SKILL.md", skillText("beta"));
    const child = startCli(["mcp", "--skills", "more"], { cwd: project.directory });
    const client = openStdioClient(child.stdin, child.stdout);
    await client.ask(initialize("2025-06-18"));
    const { result } = await client.ask(legacyCall("list_skills", {}) as { id: number });
    expect(result?.structuredContent).toMatchObject({
      skills: [{ name: "alpha" }, { name: "beta" }, { name: "skills.protocol.guide" }],
    });
    const described = await client.ask(legacyCall("describe_skill", { name: "beta" }, 2) as { id: number });
    expect(described.result?.structuredContent).toMatchObject({ skill: { files: [{ path: "SKILL.md" }] } });
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  it("answers all piped requests before it exits, including a run", async () => {
    const code = "def main():\n    return 42\n";
    const messages = [initialize("2025-06-18"), legacyCall("run_code", { language: "python", code }, 2)];
    const input = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
    const { stdout } = await runProcess(["mcp"], { cwd: project.directory, input });
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(answers).toMatchObject([{ id: "open" }, { id: 2, result: { structuredContent: { output: 42 } } }]);
  });

  it("reports grants that have no effect", async () => {
    project.write("own/alpha/SKILL.md", skillText("alpha"));
    const input = [initialize("2025-06-18"), legacyCall("list_skills", {}, 2)]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join("");
    const grants = ["--grant", "alpha:network", "--grant", "alhpa:secrets"];
    const { code, stderr } = await runProcess(["mcp", "--skills", "own", ...grants], { cwd: project.directory, input });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "acp-skills: The grant alhpa:secrets has no effect: unknown skill alhpa; did you mean alpha?\n",
    });
  });

  it("answers invalid lines with an error", async () => {
    const input = '{"jsonrpc":\n{"jsonrpc":"2.0","id":[1],"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n';
    const { code, stdout } = await runProcess(["mcp"], { cwd: project.directory, input });
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: null, error: { code: -32600 } },
      { id: 2, result: {} },
    ]);
  });

  it("ends active runs on SIGTERM and leaves nothing behind", async () => {
    const TMPDIR = project.at("temporary");
    mkdirSync(TMPDIR);
    // As root, runs belong to another user, who needs access to the directory.
    chmodSync(project.directory, 0o711);
    const child = startCli(["mcp"], { cwd: project.directory, env: { TMPDIR } });
    const client = openStdioClient(child.stdin, child.stdout);
    await client.ask(initialize("2025-11-25"));
    const code = "import time\ndef main():\n    print('asleep', flush=True)\n    time.sleep(60)\n";
    const params = { name: "run_code", arguments: { language: "python", code }, _meta: { progressToken: 1 } };
    client.send({ jsonrpc: "2.0", id: 2, method: "tools/call", params });
    await client.wait(({ method }) => method === "notifications/progress");
    expect(readdirSync(TMPDIR)).not.toEqual([]);
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(readdirSync(TMPDIR)).toEqual([]);
  });

  it("reports a missing --skills directory on stderr, and survives a closed stderr", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    const child = startCli(["mcp", "--skills", "skils"], { cwd: project.directory });
    const [told] = (await once(child.stderr, "data")) as [Buffer];
    expect(told.toString()).toContain(`${project.at("skils")} does not exist.`);
    child.stderr.destroy();
    project.write(".agents/skills/broken/SKILL.md", "no frontmatter");
    const client = openStdioClient(child.stdin, child.stdout);
    await client.ask(initialize("2025-06-18"));
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  it.each([
    ["without a grant", [], "PERMISSION_DENIED"],
    ["with a grant but no value", ["--grant", "key.use:secrets"], "SECRET_MISSING"],
  ])("%s, refuses a skill that needs a secret", async (_how, options, told) => {
    writeSecretAction(project);
    const child = startCli(["mcp", "--skills", "skills", ...options], { cwd: project.directory });
    const client = openStdioClient(child.stdin, child.stdout);
    await client.ask(initialize("2025-06-18"));
    const { result } = await client.ask(legacyCall("execute_skill", { name: "key.use" }) as { id: number });
    expect(JSON.stringify(result)).toContain(told);
    child.stdin.end();
    await once(child, "close");
  });

  it("reports a missing --secrets-file on stderr and not to the model", async () => {
    writeSecretAction(project);
    const options = ["--skills", "skills", "--grant", "key.use:secrets", "--secrets-file", "none"];
    const child = startCli(["mcp", ...options], { cwd: project.directory });
    let told = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
    const client = openStdioClient(child.stdin, child.stdout);
    await client.ask(initialize("2025-06-18"));
    const { result } = await client.ask(legacyCall("execute_skill", { name: "key.use" }) as { id: number });
    child.stdin.end();
    await once(child, "close");
    expect(JSON.stringify(result)).toMatch(/The skill key\.use needs [A-Z_]+, which is not configured\./);
    expect(JSON.stringify(result)).not.toMatch(/ENOENT|none/);
    expect(told).toContain(`The file of secrets ${JSON.stringify(project.at("none"))} cannot be used: ENOENT.`);
  });

  it("rejects a --cwd that does not exist", async () => {
    const { code, stdout, stderr } = await runProcess(["mcp", "--cwd", "prject"], { cwd: project.directory });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`--cwd ${project.at("prject")}: no such directory`);
  });

  it("rejects an invalid grant", async () => {
    const { code, stderr } = await runProcess(["mcp", "--grant", "key.use:everything"], { cwd: project.directory });
    expect([code, stderr]).toEqual([2, expect.stringContaining("--grant needs NAME@DIGEST, NAME:PERMISSION")]);
  });

  it("prints its usage", async () => {
    const { code, stdout } = await runProcess(["mcp", "--help"], { cwd: project.directory });
    expect([code, stdout]).toEqual([0, expect.stringContaining("Usage: acp-skills mcp [options]")]);
    expect((await runProcess(["mcp", "--skill", "x"], { cwd: project.directory })).code).toBe(2);
  });
});
