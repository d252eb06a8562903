import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type OpenHttp, localToken, openHttp } from "../serve/open-http.ts";
import { install, modernNode } from "./install.ts";

let server: OpenHttp | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Runs the Inspector's CLI against `/mcp`, with the token of `local`; its exit code and what it printed. */
async function inspect(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  server ??= await openHttp();
  const cli = join(await install("inspector"), ".bin/mcp-inspector");
  const home = mkdtempSync(join(tmpdir(), "acp-skills-inspector-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
  const given = ["--cli", `${server.url}/mcp`, "--transport", "http", "--stored-auth-only"];
  const header = ["--header", `Authorization: Bearer ${localToken}`];
  const node = await modernNode();
  return await new Promise((resolve) => {
    execFile(
      node,
      [cli, ...given, ...header, ...args],
      { env: { PATH: process.env["PATH"], HOME: home, NO_COLOR: "1" } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr }),
    );
  });
}

describe.each(["legacy", "modern"])("MCP Inspector, %s revisions", (era) => {
  test("verifies every skill by its digest, without a warning", async () => {
    const { code, output } = await inspect(
      ...["--protocol-era", era, "--method", "skills/list", "--verify", "--require-digests"],
    );
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("verified") as string });
    expect(output).not.toMatch(/"severity": ?"(?:warning|error)"/);
  });

  test("finds the schemas of all tools portable", async () => {
    const { code, output } = await inspect("--protocol-era", era, "--method", "tools/list", "--strict");
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining("load_skills_protocol_guide") as string,
    });
  });
});
