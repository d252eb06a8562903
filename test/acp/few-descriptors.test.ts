import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { binary } from "../cli/run-cli.ts";
import { skillText, useTemporaryProject } from "../cli/temporary-project.ts";

const project = useTemporaryProject();
const agent = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));

test.skipIf(process.platform === "win32").each([40, 60])(
  "forwards messages with a limit of %d file descriptors",
  async (limit) => {
    project.write(".agents/skills/pdf/SKILL.md", skillText("pdf"));
    const command = [process.execPath, binary, "--", process.execPath, agent];
    const wrapper = spawn("sh", ["-c", `ulimit -n ${limit}; exec "$0" "$@"`, ...command], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.directory },
      stdio: ["pipe", "pipe", "ignore"],
    });
    const ended = once(wrapper, "exit");
    let received = "";
    wrapper.stdout.on("data", (bytes: Buffer) => (received += String(bytes)));
    const ask = async (id: number, method: string, params: object): Promise<void> => {
      wrapper.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      await expect.poll(() => received, { timeout: 15_000 }).toContain(`"id":${id},"result"`);
    };
    await ask(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    await ask(2, "session/new", { cwd: project.directory, mcpServers: [] });
    await ask(3, "session/prompt", { sessionId: "session-1", prompt: [{ type: "text", text: "echo" }] });
    wrapper.stdin.end();
    expect(await ended).toEqual([0, null]);
  },
);
