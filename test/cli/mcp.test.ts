import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { legacyCall } from "../mcp/raw-request.ts";
import { initialize, openStdioClient } from "../mcp/stdio-client.ts";
import { binary, runCli, startCli } from "./run-cli.ts";
import { skillText, useTemporaryProject } from "./temporary-project.ts";

const project = useTemporaryProject();

describe("acp-skills mcp", () => {
  it("serves the project's skills and those of --skills to a client on stdio, and ends with it", async () => {
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

  it("tells on stderr what it cannot look into and which skills it cannot offer, and serves the rest", async () => {
    project.write("more/alpha/SKILL.md", skillText("alpha"));
    project.write("more/broken/SKILL.md", "no frontmatter");
    const child = startCli(["mcp", "--skills", "nowhere", "--skills", "more", "--cwd", "absent"], {
      cwd: project.directory,
    });
    let stderr = "";
    child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
    const client = openStdioClient(child.stdin, child.stdout);
    await client.ask(initialize("2025-06-18"));
    const { result } = await client.ask(legacyCall("list_skills", {}) as { id: number });
    expect(result?.structuredContent).toMatchObject({ skills: [{ name: "alpha" }, {}] });
    child.stdin.end();
    await once(child, "close");
    expect(stderr.split("\n")).toEqual([
      `acp-skills: --cwd ${project.at("absent")}: no such directory`,
      expect.stringMatching(/^acp-skills: .*nowhere:1:1 unreadable: /),
      expect.stringMatching(/^acp-skills: .*broken\/SKILL\.md:1:1 frontmatter-missing: /),
      "",
    ]);
  });

  it("goes on when nobody reads its stderr", async () => {
    const child = startCli(["mcp", "--skills", "nowhere"], { cwd: project.directory });
    child.stderr.destroy();
    const client = openStdioClient(child.stdin, child.stdout);
    expect(await client.ask(initialize("2025-06-18"))).toHaveProperty("result");
    child.stdin.end();
    expect(await once(child, "close")).toEqual([0, null]);
  });

  it.skipIf(process.platform === "win32")("says in a sentence that its directory is gone", async () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" mcp';
    const child = spawn("sh", ["-c", script, process.execPath, binary], { cwd: project.directory });
    let stderr = "";
    child.stderr.on("data", (text: Buffer) => (stderr += text.toString()));
    expect(await once(child, "close")).toEqual([1, null]);
    expect(stderr).toMatch(/^acp-skills: The current directory cannot be read.*\n$/);
  });

  it("tells how it is called", async () => {
    const { code, stdout } = await runCli(["mcp", "--help"], { cwd: project.directory });
    expect([code, stdout]).toEqual([0, expect.stringContaining("Usage: acp-skills mcp [options]")]);
    expect((await runCli(["mcp", "--skill", "x"], { cwd: project.directory })).code).toBe(2);
  });
});
