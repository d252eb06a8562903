import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { createDeferred } from "../../../../src/base/promises.ts";
import { command } from "../../../../src/cli/commands/serve/proxy.ts";
import { connectChain } from "../../../acp/relay/relay-chain/conductor.ts";
import { Peer, type Reply } from "../../../acp/relay/relay-chain/json-rpc-peer.ts";
import { runProcess, startCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();
const agent = fileURLToPath(new URL("../../../agent/scripted-agent.js", import.meta.url));

test("stands twice in a chain, until the conductor leaves", async () => {
  project.write("skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n");
  const args = ["proxy", "--skills", "skills", "--no-default-roots", "--log", "proxy.log"];
  const proxies = [1, 2].map(() => startCli(args, { cwd: project.directory }));
  const child = spawn(process.execPath, [agent], { stdio: ["pipe", "pipe", "inherit"] });
  const components = [...proxies, child].map(({ stdin, stdout }) => ({ input: stdin, output: stdout }));
  const [input, output] = [new PassThrough(), new PassThrough()];
  const last = components.pop();
  if (last === undefined) throw new Error("no agent");
  connectChain({ input: output, output: input }, components, last);

  const said: unknown[] = [];
  const { promise: listed, resolve } = createDeferred<unknown>();
  const editor = new Peer({ input, output }, ({ params }) => {
    const { update } = params as { readonly update: { readonly sessionUpdate: string; readonly content?: unknown } };
    if (update.sessionUpdate === "available_commands_update") resolve(update);
    if (update.sessionUpdate === "agent_message_chunk") said.push(update.content);
  });
  const ask = (method: string, params: object): Promise<Reply> =>
    new Promise((done) => editor.request(method, params, done));
  await ask("initialize", { protocolVersion: 1 });
  const { result } = await ask("session/new", { cwd: project.directory, mcpServers: [] });
  expect(await listed).toMatchObject({ availableCommands: [{ name: "pdf" }] });
  const { sessionId } = result as { readonly sessionId: string };
  await ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "tool list_skills {}" }] });
  expect(said).toEqual([{ type: "text", text: expect.stringContaining("pdf") as string }]);

  const exits = proxies.map((proxy) => new Promise((gone) => proxy.once("close", (...status) => gone(status))));
  for (const proxy of proxies) proxy.stdin.end();
  expect(await Promise.all(exits)).toEqual([
    [0, null],
    [0, null],
  ]);
  child.stdin.end();
});

test("explains to a conductor that needs an agent what to run", async () => {
  const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n';
  const { code, stdout, stderr } = await runProcess(["proxy"], { cwd: project.directory, input: initialize });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { code: -32600 } });
  expect(stderr).toMatch(/^acp-skills: acp-skills proxy is no agent: .*run: acp-skills -- AGENT\n$/);
});

test("says in a terminal what it is for", async () => {
  vi.spyOn(process, "stdin", "get").mockReturnValue({ isTTY: true } as never);
  await expect(command.run({ options: {}, positionals: [] }, {} as never, {} as never)).rejects.toThrow(
    /a conductor of ACP proxies starts proxy; to run one agent, write: acp-skills -- AGENT$/,
  );
  vi.restoreAllMocks();
});

test("refuses a log file that cannot be opened", async () => {
  const { code, stderr } = await runProcess(["proxy", "--log", "no/such/file"], { cwd: project.directory });
  expect(code).toBe(2);
  expect(stderr).toContain("cannot open --log no/such/file");
});
