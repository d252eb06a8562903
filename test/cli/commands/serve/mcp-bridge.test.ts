import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { openMcpApp } from "../../../mcp/open-mcp-app.ts";
import { legacyCall } from "../../../mcp/raw-request.ts";
import { initialize, openStdioClient } from "../../../mcp/stdio-client.ts";
import { binary, runProcess, startCli } from "../../run-cli.ts";
import { useTemporaryProject } from "../../temporary-project.ts";

const project = useTemporaryProject();

describe("acp-skills mcp-bridge", () => {
  it("connects to the wrapper's socket without using a proxy, and exits when stdin ends", async () => {
    const { sockets, caller } = await openMcpApp();
    const env = { HTTP_PROXY: "http://127.0.0.1:9", http_proxy: "http://127.0.0.1:9", NODE_USE_ENV_PROXY: "1" };
    const { path } = await sockets.open(caller);
    const child = startCli(["mcp-bridge", path], { cwd: project.directory, env });
    const agent = openStdioClient(child.stdin, child.stdout);
    await agent.ask(initialize("2025-11-25"));
    const { result } = await agent.ask(legacyCall("list_skills", {}) as { id: number });
    expect(result?.structuredContent).toMatchObject({ next_cursor: null });
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
    await sockets.close();
  });

  it("exits when its agent is killed, even if another process keeps its stdin open", async () => {
    const { sockets, caller } = await openMcpApp();
    const { path } = await sockets.open(caller);
    // The bridge reads from a pipe that this test keeps open after the agent has died.
    const script = `
      const { spawn } = require("node:child_process");
      spawn(process.execPath, [process.argv[1], "mcp-bridge", process.argv[2]], { stdio: [3, "inherit", "inherit"] });`;
    const agent = spawn(process.execPath, ["-e", script, binary, path], {
      cwd: project.directory,
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "pipe", "inherit", "pipe"],
    });
    const toBridge = agent.stdio[3] as Writable;
    const fromBridge = agent.stdio[1] as Readable;
    const client = openStdioClient(toBridge, fromBridge);
    await client.ask(initialize("2025-06-18"));
    const ended = once(fromBridge, "close");
    agent.kill("SIGKILL");
    expect(await once(agent, "exit")).toEqual([null, "SIGKILL"]);
    expect(toBridge.writable).toBe(true);
    // Only the bridge still holds this pipe, so it closes when the bridge exits.
    await ended;
    await sockets.close();
  });

  it("explains its purpose when it is started without a socket", async () => {
    const { code, stdout, stderr } = await runProcess(["mcp-bridge"], { cwd: project.directory });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("acp-skills mcp");
  });
});
