import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { openProcessSandbox } from "../../../../src/runtime/sandbox/processes/process-sandbox.ts";
import type { Sandbox } from "../../../../src/runtime/sandbox.ts";
import { codeRun } from "../../../contract/sandbox/runs.ts";

describe("a project that contains the directory of the sandboxes", () => {
  let directory = "";
  let sandbox: Sandbox | undefined;
  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), "process-sandbox-"));
    for (const name of ["temporary", "temporary/host", "temporary/project"]) mkdirSync(path.join(directory, name));
    symlinkSync("temporary", path.join(directory, "link"));
    const nothing = (): never => {
      throw new Error("A sandbox was started.");
    };
    sandbox = openProcessSandbox(
      { tier: "landlock", lacks: {}, command: nothing },
      {
        host: { path: path.join(directory, "link", "host"), inside: "" },
        pool: { size: 0, idleMs: 0 },
        egress: undefined,
        clock: systemClock,
        log: silentLog,
      },
    );
  });
  afterEach(async () => {
    await sandbox?.close();
    rmSync(directory, { recursive: true });
  });

  const refusal = (name: string, writable: boolean): string | undefined =>
    sandbox?.refuses(codeRun("", { project: { directory: path.join(directory, name), writable } }));

  test.each([".", "temporary", "link", "temporary/host"])("is refused by every path that leads to it: %s", (name) => {
    for (const writable of [false, true])
      expect(refusal(name, writable)).toMatch(/cannot be the project: sandboxes are created inside it\.$/);
  });

  test("does not affect a project next to the directory of the sandboxes", () => {
    expect(refusal("temporary/project", true)).toBeUndefined();
  });
});
