import { once } from "node:events";
import { chmodSync, readFileSync, renameSync } from "node:fs";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { afterEach, describe, expect, it, vi } from "vitest";
import { newToken, toTokenDigest } from "../../../../src/wire/http.ts";
import { runCli, startCli, unfolded } from "../../run-cli.ts";
import { skillText, useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const started: ChildProcessWithoutNullStreams[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "close");
  }
});

interface Served {
  readonly child: ChildProcessWithoutNullStreams;
  readonly url: string;
  readonly token: string;
  readonly share: string;
  readonly told: () => string;
}

async function serve(...args: readonly string[]): Promise<Served> {
  const child = startCli(["serve", "--port", "0", ...args], { cwd: project.directory });
  started.push(child);
  let told = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  const found = await vi.waitFor(
    () => {
      const url = /listening on (\S+)/.exec(told)?.[1];
      const token = /Bearer ([\w-]+)/.exec(told)?.[1];
      const share = /skills add \S+(\/s\/\S+)/.exec(told)?.[1];
      if (url === undefined || token === undefined || share === undefined) throw new Error(`not ready: ${told}`);
      return { url, token, share };
    },
    { timeout: 20_000 },
  );
  return { child, ...found, told: () => told };
}

const rpc = async ({ url, token }: Served, method: string, params?: object): Promise<unknown> => {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  return await (await fetch(`${url}/rpc`, { method: "POST", headers, body })).json();
};

describe("acp-skills serve", () => {
  it("--audit appends each row to a file, also after others moved it, and ledger verify compares with it", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    const server = await serve("--audit", "audit.jsonl");
    const read = { name: "alpha", path: "SKILL.md" };
    await rpc(server, "read_skill_file", read);
    renameSync(project.at("audit.jsonl"), project.at("audit.1.jsonl"));
    await rpc(server, "read_skill_file", read);
    const rows = ["audit.1.jsonl", "audit.jsonl"].map((name) => readFileSync(project.at(name), "utf8").trimEnd());
    for (const [after, row] of rows.entries())
      expect(JSON.parse(row)).toMatchObject({
        room: "uses",
        tool: "read_skill_file",
        skill: "alpha",
        after,
        door: "http",
      });
    const verify = () => runCli(["ledger", "verify", "--audit", "audit.jsonl"], { cwd: project.directory });
    expect((await verify()).code).toBe(0);
    project.write("audit.jsonl", (rows[1] ?? "").replace(/"chain":"../, '"chain":"zz'));
    const { code, stdout } = await verify();
    expect(code).toBe(1);
    expect(stdout).toMatch(/uses .*row 1 is missing or was changed/);
    const args = ["serve", "--audit", "no/such/place.jsonl"];
    expect(await runCli(args, { cwd: project.directory })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--audit no/such/place.jsonl cannot be written: ENOENT") as string,
    });
  });

  it("serves the project's skills to its user, follows edits, and says how skills are installed from it", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    const server = await serve();
    const names = { skills: [{ name: "alpha" }, { name: "skills.protocol.guide" }] };
    expect(await rpc(server, "list_skills")).toMatchObject({ result: names });
    project.write(".agents/skills/beta/SKILL.md", skillText("beta"));
    await vi.waitFor(
      async () =>
        expect(await rpc(server, "list_skills")).toMatchObject({
          result: { skills: [{ name: "alpha" }, { name: "beta" }, {}] },
        }),
      { timeout: 10_000 },
    );
    const index = await fetch(`${server.url}${server.share}.well-known/agent-skills/index.json`);
    expect(await index.json()).toMatchObject({ skills: [{ name: "alpha" }, { name: "beta" }] });
    expect((await fetch(`${server.url}/.well-known/agent-skills/index.json`)).status).toBe(200);
    server.child.kill("SIGINT");
    expect(await once(server.child, "close")).toEqual([130, null]);
    expect(server.told()).not.toMatch(/error/i);
  });

  it("refuses a port in use, and names what to do", async () => {
    const { url } = await serve();
    const { port } = new URL(url);
    const { code, stderr } = await runCli(["serve", "--port", port], { cwd: project.directory });
    expect(code).toBe(2);
    expect(unfolded(stderr)).toContain(
      `Cannot listen on 127.0.0.1:${port}: port ${port} is in use; choose another one with --port, or 0 for any free one.`,
    );
  });

  it.each([
    [["--port", "70000"], "--port needs a number from 0 to 65535, not 70000"],
    [["--host", "0.0.0.0", "--port", "0"], "--host 0.0.0.0 lets other machines connect"],
    [["--log-level", "loud"], "--log-level needs debug, info, warning or error, not loud"],
  ])("refuses %s", async (args, message) => {
    const { code, stderr } = await runCli(["serve", ...args], { cwd: project.directory });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
  });

  it("serves what its configuration says, to the callers that it names", async () => {
    project.write("published/alpha/SKILL.md", skillText("alpha"));
    const callers = [{ name: "ci", token: "env:CI_TOKEN", tools: ["list_skills"] }];
    const file = project.write("serve.json", JSON.stringify({ skills: ["published"], callers }));
    const token = "aB3_-kQ9zXw7LmN2pR5tVu8s";
    const options = { cwd: project.directory, env: { CI_TOKEN: token } };
    const child = startCli(["serve", "--port", "0", "--config", file], options);
    started.push(child);
    let told = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
    const url = await vi.waitFor(
      () => {
        const [, found] = /listening on (\S+)/.exec(told) ?? [];
        if (found === undefined) throw new Error(`not ready: ${told}`);
        return found;
      },
      { timeout: 20_000 },
    );
    const server = { child, url, token, share: "", told: () => told };
    expect(await rpc(server, "list_skills")).toMatchObject({ result: { skills: [{ name: "alpha" }, {}] } });
    expect(await rpc({ ...server, token: `${token}x` }, "list_skills")).toMatchObject({ error: { code: -32001 } });
    expect(told).not.toContain(token);
  });

  it("refuses a configuration with errors, and shows where they are, but no token", async () => {
    const file = project.write(
      "serve.json",
      '{\n  "callers": [{ "name": "ci", "token": "hunter2" }],\n  "acess": {}\n}',
    );
    const { code, stderr } = await runCli(["serve", "--port", "0", "--config", file], { cwd: project.directory });
    expect(code).toBe(2);
    expect(stderr).toContain('> 3 |   "acess": {}\n      |   ^^^^^^^\n');
    expect(stderr).toContain('fix: Did you mean "access"?');
    expect(stderr).toContain("serve.json has 2 errors; nothing is served");
    expect(stderr).not.toContain("hunter2");
  });

  it("reads its configuration again when it changes: who is taken out is nobody at once; a broken one keeps the old", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    const [ada, kim] = [newToken(), newToken()];
    const digestOf = (token: string): string => `sha256:${toTokenDigest(token).toString("hex")}`;
    const callers = { ada: { name: "ada", token: digestOf(ada) }, kim: { name: "kim", token: digestOf(kim) } };
    const write = (value: unknown): string =>
      project.write("serve.json", typeof value === "string" ? value : JSON.stringify(value));
    const file = write({ callers: [callers.ada, callers.kim] });
    chmodSync(file, 0o600);
    const child = startCli(["serve", "--port", "0", "--config", file], { cwd: project.directory });
    started.push(child);
    let told = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
    await vi.waitUntil(() => told.includes("listening on"), { timeout: 20_000 });
    const url = /listening on (\S+)/.exec(told)?.[1] ?? "";
    const statusOf = async (token: string): Promise<number> =>
      (await fetch(`${url}/.well-known/skill-sharing`, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusOf(ada), await statusOf(kim)]).toEqual([200, 200]);
    const stream = await fetch(`${url}/events`, { headers: { authorization: `Bearer ${kim}` } });
    write({ callers: [callers.ada] });
    await expect(stream.text()).rejects.toThrow();
    expect([await statusOf(ada), await statusOf(kim)]).toEqual([200, 401]);
    expect(told).toContain("removed, or with other rights now: kim");
    await vi.waitUntil(() => told.includes("A token that no caller has was refused: 127.0.0.1, GET"));
    expect(told).not.toContain(kim);
    write("{");
    await vi.waitUntil(() => told.includes("The callers and shares from before stay in force."), { timeout: 10_000 });
    expect(await statusOf(ada)).toBe(200);
    write({ callers: [callers.kim], access: { default: "public" } });
    if (process.platform !== "win32") child.kill("SIGHUP");
    await vi.waitUntil(() => told.includes("access changed, which counts after a restart"), { timeout: 10_000 });
    expect([await statusOf(ada), await statusOf(kim)]).toEqual([401, 200]);
  });

  it("makes tokens of 256 bits, of which the digest stands in the configuration", async () => {
    const { code, stdout } = await runCli(["serve", "--new-token"], { cwd: project.directory });
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^token: {2}[\w-]{43}\ndigest: sha256:[0-9a-f]{64}\n$/) as string,
    });
  });
});
