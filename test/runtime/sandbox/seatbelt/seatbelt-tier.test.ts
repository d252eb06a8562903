import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { findPython } from "../../../../src/runtime/sandbox/find.ts";
import { makeHostDirectory } from "../../../../src/runtime/sandbox/directory/host-directory.ts";
import { type SeatbeltRuntime, openSeatbeltSandbox } from "../../../../src/runtime/sandbox/seatbelt/seatbelt-tier.ts";
import type { SeatbeltConfiguration } from "../../../../src/runtime/sandbox/seatbelt/seatbelt-process.ts";
import type { Sandbox, SandboxRun } from "../../../../src/runtime/sandbox.ts";
import { recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { blobOf, codeRun, scriptRun, skillOf } from "../../../contract/sandbox/runs.ts";

const configured: SeatbeltConfiguration[] = [];
let resets = 0;
/** A runtime without confinement: these tests cover only how a run is driven. */
const pretended: SeatbeltRuntime = {
  getDefaultWritePaths: () => ["/tmp/claude"],
  SandboxManager: {
    initialize: () => Promise.resolve(),
    wrapWithSandboxArgv(command, shell, configuration) {
      configured.push(configuration);
      return Promise.resolve({ argv: [shell, "-c", command] });
    },
    reset() {
      resets += 1;
      return Promise.resolve();
    },
  },
};
const isUsable = process.platform !== "win32" && process.getuid?.() !== 0;

describe.runIf(isUsable)("a run under Seatbelt", () => {
  let root = "";
  let sandbox: Sandbox | undefined;
  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "acp-skills-seatbelt-"));
    const python = await findPython();
    if ("reason" in python) throw new Error(python.reason);
    const host = await makeHostDirectory(python, root);
    sandbox = await openSeatbeltSandbox({ runtime: pretended, python, host, clock: systemClock, log: silentLog });
  });
  afterAll(async () => {
    await sandbox?.close();
    expect(resets).toBe(1);
    rmSync(root, { recursive: true });
  });

  async function run(one: SandboxRun) {
    const host = recordingHost();
    const end = await sandbox?.run(one, host, new AbortController().signal);
    return { end, record: host.record };
  }

  it("returns its result, output and files", async () => {
    const code =
      "def main(args):\n    print('hello')\n    open('/output/x', 'w').write(open('/blobs/b1').read())\n    return args\n";
    const seen = await run(codeRun(code, { args: { a: 1 }, blobs: [blobOf("blob:b1", "content")] }));
    expect(seen.end).toMatchObject({ type: "returned", value: { a: 1 } });
    expect(seen.record.stdout).toBe("hello\n");
    expect(seen.record.outputs.get("x")?.toString()).toBe("content");
  });

  it("may write only to its own directories", async () => {
    await run(codeRun("def main(): pass", { skills: [skillOf("a", { f: "" })] }));
    const { filesystem } = configured.at(-1) ?? expect.fail("It was not wrapped.");
    expect(filesystem.allowWrite.map((path) => path.split("/").at(-1))).toEqual(["workspace", "output", "temporary"]);
    for (const path of filesystem.allowWrite) expect(path.startsWith(root)).toBe(true);
  });

  it("cannot fork", async () => {
    const seen = await run(codeRun("import os\ndef main(): os.fork()"));
    expect(seen.end).toMatchObject({ type: "raised", error: { type: "BlockingIOError" } });
  });

  it("reports the timeout, the memory limit and the exit code of a script", async () => {
    const timeout = await run(codeRun("def main():\n    while True: pass", { limits: { timeoutMs: 1000 } }));
    expect(timeout.end).toEqual({ type: "limit", limit: "timeout" });
    const memory = "def main():\n    kept = []\n    while True: kept.append(b'x' * (1 << 20))";
    const limited = await run(codeRun(memory, { limits: { memoryBytes: 64 << 20 } }));
    expect(limited.end).toEqual({ type: "limit", limit: "memory" });
    expect((await run(scriptRun("python", "raise SystemExit(3)"))).end).toEqual({ type: "exited", exitCode: 3 });
  });

  it.each([
    ["bash", scriptRun("bash", "")],
    ["a network", codeRun("", { network: ["https://example.org"] })],
    ["the project", codeRun("", { project: { directory: "/usr", writable: false } })],
  ])("refuses %s with a reason", (_what, refused) => {
    expect(sandbox?.refuses(refused)).toMatch(/^[A-Z].*\.$/);
  });
});
