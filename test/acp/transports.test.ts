import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, vi } from "vitest";
import { wrapAgentCommand } from "../../src/acp/wrap-command.ts";
import { runProxy } from "../../src/acp/run-proxy.ts";
import { silentLog } from "../../src/base/log.ts";
import type { SkillsOptions } from "../../src/runtime/options.ts";
import { type OpenTransport, describeTransports, transportSkills } from "../transports.ts";
import { connectChain } from "./relay/relay-chain/conductor.ts";
import { choose } from "./permission-answers.ts";
import { openStdioClient } from "../mcp/stdio-client.ts";
import { useTemporaryProject } from "../cli/temporary-project.ts";

const project = useTemporaryProject();
afterEach(() => {
  vi.unstubAllEnvs();
});
const agent = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));

interface Ends {
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly ended: Promise<unknown>;
}

/** An agent with skills. */
type Mount = (options: SkillsOptions) => Ends;

const wrapped: Mount = (options) => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return {
    input,
    output,
    ended: wrapAgentCommand({ command: process.execPath, args: [agent], input, output, options }),
  };
};

const chained: Mount = (options) => {
  const [input, output, toProxy, fromProxy] = [0, 1, 2, 3].map(() => new PassThrough()) as [
    PassThrough,
    PassThrough,
    PassThrough,
    PassThrough,
  ];
  const child = spawn(process.execPath, [agent], { stdio: ["pipe", "pipe", "inherit"] });
  connectChain({ input: output, output: input }, [{ input: toProxy, output: fromProxy }], {
    input: child.stdin,
    output: child.stdout,
  });
  input.once("end", () => {
    toProxy.end();
    child.stdin.end();
  });
  return { input, output, ended: runProxy({ input: toProxy, output: fromProxy, options }) };
};

/** An editor with a session open. */
async function open(mount: Mount, directory: string): Promise<OpenTransport> {
  // This editor is asked, which nobody is about a secret that is missing.
  vi.stubEnv("ACP_SKILLS_ABSENT_KEY", "a value");
  for (const [file, text] of Object.entries(transportSkills)) project.write(`skills/${file}`, text);
  const { input, output, ended } = mount({
    dataDirectory: project.at("data"),
    directories: [project.at("skills")],
    defaultRoots: false,
    log: silentLog,
  });
  const client = openStdioClient(input, output, (message) => choose(message, "reject_once"));
  let id = 0;
  const ask = (method: string, params: object) =>
    client.ask({ jsonrpc: "2.0", id: ++id, method, params } as { readonly id: number });
  await ask("initialize", { protocolVersion: 1 });
  const { result: session } = await ask("session/new", { cwd: directory, mcpServers: [] });
  return {
    async call(tool, args) {
      const { result, error } = await ask(`_acp-skills/${tool}`, { ...args, sessionId: session?.sessionId });
      if (error !== undefined) return { error: error as { code: number; message: string; data: object } };
      return { result };
    },
    async close() {
      input.end();
      await ended;
    },
  };
}

describeTransports("ACP, for an editor", (directory) => open(wrapped, directory), "people");
describeTransports("ACP, for an editor before a chain of proxies", (directory) => open(chained, directory), "people");
