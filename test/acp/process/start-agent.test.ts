import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { endTree } from "../../../src/acp/process/start-agent.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "acp-skills-tree-"));
  vi.stubEnv("SystemRoot", root);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

/** A taskkill of our own, which is a program of Windows otherwise. */
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

test("where taskkill is not there or fails, the process is killed", async () => {
  expect(await end()).toBe("SIGTERM");
});

test.skipIf(process.platform === "win32")("the whole tree is asked for, and only a failure leads to more", async () => {
  install(`[ "$*" = "/pid 7 /T /F" ] && exit 1; sleep 60`);
  expect(await end()).toBe("SIGTERM");
});
