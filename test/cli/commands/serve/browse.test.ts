import { once } from "node:events";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type SignInResponse, sessionHeader } from "../../../../src/browser/wire/sessions.ts";
import { runCli, startCli } from "../../run-cli.ts";
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

async function browse(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = startCli(["browse", ...args], { cwd: project.directory, env });
  started.push(child);
  let [told, printed] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => (told += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const address = await vi.waitFor(
    () => {
      const [, found] = /open (http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43})\n/.exec(told) ?? [];
      if (found === undefined) throw new Error(`not ready: ${told}`);
      return new URL(found);
    },
    { timeout: 20_000 },
  );
  return { child, address, told: () => told, printed: () => printed };
}

/** As the page does. */
async function signIn({ origin, hash }: URL): Promise<Readonly<Record<string, string>>> {
  const headers = { origin, "sec-fetch-site": "same-origin", "content-type": "application/json" };
  const body = JSON.stringify({ code: hash.slice("#code=".length) });
  const answer = await fetch(`${origin}/api/session`, { method: "POST", headers, body });
  expect(answer.status).toBe(200);
  const { key } = (await answer.json()) as SignInResponse;
  const cookie = answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  return { "sec-fetch-site": "same-origin", cookie, [sessionHeader]: key };
}

describe("acp-skills browse", () => {
  it("serves the built page and the project's skills, and ends when it is interrupted", async () => {
    project.write(".agents/skills/alpha/SKILL.md", skillText("alpha"));
    const { child, address, told, printed } = await browse(["--no-open"]);
    const headers = await signIn(address);
    const page = await fetch(`${address.origin}/page.js`, { headers: { "sec-fetch-site": "same-origin" } });
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    const list = (await (await fetch(`${address.origin}/api/skills`, { headers })).json()) as { skills: object[] };
    expect(list.skills).toMatchObject([{ id: "alpha", source: ".agents/skills", state: "ok" }]);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    expect(told().split("\n")).toHaveLength(2);
    expect(printed()).toBe("");
  });

  it("opens the browser of $BROWSER with the address", async () => {
    const program = path.join(project.directory, "browser.sh");
    project.write("browser.sh", `#!/bin/sh\necho "$1" > "${project.directory}/opened"\n`);
    chmodSync(program, 0o755);
    const { child, address } = await browse([], { BROWSER: program });
    await vi.waitFor(() =>
      expect(readFileSync(path.join(project.directory, "opened"), "utf8")).toBe(`${address.href}\n`),
    );
    child.kill("SIGTERM");
    await once(child, "close");
  });

  it("says that there is no browser, and goes on", async () => {
    const { address, told } = await browse([]);
    await vi.waitFor(() => expect(told()).toContain("no browser was opened, because there is no display"));
    expect((await signIn(address)).cookie).toContain(`acp-skills-${address.port}=`);
  });

  it("changes nothing with --read-only", async () => {
    const { address } = await browse(["--no-open", "--read-only"]);
    const headers = await signIn(address);
    const { origin } = address;
    const answer = await fetch(`${origin}/api/runs`, { method: "POST", headers: { ...headers, origin }, body: "{}" });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { message: "This page is read-only." } });
  });

  it.each([
    [["--port", "x"], "--port needs a number from 0 to 65535, not x"],
    [["--port", "65536"], "--port needs a number from 0 to 65535, not 65536"],
    [["--idle-minutes", "0"], "--idle-minutes needs a number from 1 to 10080, not 0"],
    [["--host", "0.0.0.0"], "--host"],
    [["--cwd", "nowhere"], "no such directory"],
  ])("refuses %o", async (args, message) => {
    const { code, stderr } = await runCli(["browse", "--no-open", ...args], { cwd: project.directory });
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it("says which port is in use", async () => {
    const { address } = await browse(["--no-open"]);
    const { code, stderr } = await runCli(["browse", "--no-open", "--port", address.port], { cwd: project.directory });
    expect(stderr).toContain(`port ${address.port} is in use; choose another one with --port`);
    expect(code).toBe(2);
  });
});
