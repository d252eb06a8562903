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
