import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { clusterNodeFault } from "../../src/cluster/open-cluster.ts";

const cli = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

test.skipIf(clusterNodeFault())(
  "a worker waits for a database that it has never reached, until it is stopped",
  async () => {
    const home = mkdtempSync(path.join(tmpdir(), "acp-skills-worker-"));
    const env = { ...process.env, ACP_SKILLS_CLUSTER: "postgres://acp@127.0.0.1:1/nothing", ACP_SKILLS_HOME: home };
    const worker = spawn(process.execPath, [cli, "worker"], { env, stdio: ["ignore", "ignore", "pipe"] });
    let printed = "";
    worker.stderr.on("data", (bytes: Buffer) => (printed += bytes.toString()));
    const ended = new Promise<readonly [number | null, string | null]>((resolve) => {
      worker.on("close", (...end) => resolve(end));
    });
    // Long after it has begun: nothing but a timer of ours has happened since.
    await expect.poll(() => printed, { timeout: 30_000 }).toContain("This member of the cluster was not renewed");
    worker.kill("SIGTERM");
    expect(await ended).not.toContain(13);
    expect(printed).toContain("the worker has stopped");
    rmSync(home, { recursive: true, force: true });
  },
  60_000,
);

test.skipIf(clusterNodeFault())(
  "a call that the database is away for ends with an answer, half a minute later",
  async () => {
    const home = mkdtempSync(path.join(tmpdir(), "acp-skills-call-"));
    const env = { ...process.env, ACP_SKILLS_CLUSTER: "postgres://acp@127.0.0.1:1/nothing", ACP_SKILLS_HOME: home };
    const run = JSON.stringify({ language: "python", code: "def main():\n    return 1" });
    const called = spawn(process.execPath, [cli, "call", "run_code", run], { env, cwd: home });
    let printed = "";
    for (const stream of [called.stdout, called.stderr])
      stream.on("data", (bytes: Buffer) => (printed += bytes.toString()));
    expect(await new Promise((resolve) => called.on("close", resolve))).toBe(3);
    expect(printed).toContain('"code":"RUNTIME_BUSY"');
    rmSync(home, { recursive: true, force: true });
  },
  90_000,
);
