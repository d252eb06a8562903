import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endTree, exitAs } from "../../../src/acp/relay/start-agent.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acp-skills-tree-"));
  vi.stubEnv("SystemRoot", root);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** Installs a fake taskkill. */
function install(script: string): void {
  mkdirSync(join(root, "System32"));
  const file = join(root, "System32", "taskkill.exe");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

function end(): Promise<unknown> {
  return new Promise((resolve) => {
    endTree({ pid: 7, kill: (signal) => (resolve(signal), true) }, "SIGTERM");
  });
}

test("signals the process itself if taskkill does not exist", async () => {
  expect(await end()).toBe("SIGTERM");
});

test.skipIf(process.platform === "win32")(
  "runs taskkill for the whole tree and signals the process only if it fails",
  async () => {
    install(`[ "$*" = "/pid 7 /T /F" ] && exit 1; sleep 60`);
    expect(await end()).toBe("SIGTERM");
  },
);

test("exits with the agent's exit code", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 3 }, self);
  expect([self.exitCode, killed]).toEqual([3, []]);
});

test("kills itself by the signal that killed the agent", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 143, signal: "SIGTERM" }, self);
  expect([self.exitCode, killed]).toEqual([143, [[7, "SIGTERM"]]]);
});

test("only sets the exit code for SIGUSR1, which would open Node's debugger", () => {
  const killed: unknown[] = [];
  const self = { pid: 7, exitCode: 0, kill: (...call: unknown[]) => killed.push(call) };
  exitAs({ exitCode: 138, signal: "SIGUSR1" }, self);
  expect([self.exitCode, killed]).toEqual([138, []]);
});
