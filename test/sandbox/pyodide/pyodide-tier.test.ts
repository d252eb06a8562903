import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { findDenoParts } from "../../../src/sandbox/pyodide/find-deno.ts";
import { openPyodideSandbox } from "../../../src/sandbox/pyodide/pyodide-sandbox.ts";
import { openPyodideTier } from "../../../src/sandbox/pyodide/pyodide-tier.ts";
import { recordingHost } from "../../contract/sandbox/recording-host.ts";
import { codeRun } from "../../contract/sandbox/runs.ts";
import { openPyodideForTests, peers } from "./open-pyodide.ts";

const parts = findDenoParts(peers);

it.skipIf(typeof parts === "string")(
  "opens a tier that passes its self-test",
  async () => {
    const pool = { size: 2, idleMs: 1000 };
    const opened = await openPyodideTier({ peersFrom: peers, pool, clock: systemClock, log: silentLog });
    expect(opened).toHaveProperty("tier", "pyodide");
    if ("close" in opened) await opened.close();
  },
  60_000,
);

it.skipIf(typeof parts === "string" || process.getuid?.() !== 0)(
  "runs as another user if opened by root",
  async () => {
    const sandbox = await openPyodideForTests();
    if ("skip" in sandbox) return;
    const users: string[] = [];
    const host = recordingHost({ print: () => void users.push(...usersOfChildren("deno")) });
    await sandbox.run(codeRun("def main(): print('here')"), host, new AbortController().signal);
    await sandbox.close();
    expect(users.length).toBeGreaterThan(0);
    expect(users).not.toContain("0");
  },
  60_000,
);

it.skipIf(typeof parts === "string" || process.getuid?.() !== 0)(
  "runs a deno and a pyodide that only root can read",
  async ({ onTestFinished }) => {
    if (typeof parts === "string") return;
    const closed = mkdtempSync(join(tmpdir(), "closed-"));
    onTestFinished(() => rmSync(closed, { recursive: true }));
    const hidden = { deno: join(closed, "deno"), pyodide: join(closed, "pyodide") };
    cpSync(parts.deno, hidden.deno);
    cpSync(parts.pyodide, hidden.pyodide, { recursive: true });
    const pool = { size: 1, idleMs: 1000 };
    const sandbox = await openPyodideSandbox({ parts: hidden, pool, clock: systemClock, log: silentLog });
    const run = codeRun("def main(): return 'here'");
    expect(await sandbox.run(run, recordingHost(), new AbortController().signal)).toMatchObject({ value: "here" });
    await sandbox.close();
  },
  60_000,
);

function usersOfChildren(name: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^[0-9]+$/.test(pid)) return [];
    let status: string;
    try {
      status = readFileSync(`/proc/${pid}/status`, "utf8");
    } catch {
      return []; // It has ended.
    }
    const field = (label: string): string => new RegExp(`^${label}:\\s+(\\S+)`, "m").exec(status)?.[1] ?? "";
    return field("Name") === name && field("PPid") === String(process.pid) ? [field("Uid")] : [];
  });
}

it.skipIf(typeof parts !== "string")("says what to install if deno or pyodide is missing", async () => {
  const pool = { size: 2, idleMs: 1000 };
  const opened = await openPyodideTier({ peersFrom: peers, pool, clock: systemClock, log: silentLog });
  expect(opened).toMatchObject({
    reason: expect.stringContaining("not found") as string,
    fix: ["npm install deno pyodide"],
  });
});
