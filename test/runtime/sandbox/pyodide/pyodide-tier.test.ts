import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { findDenoFiles, openPyodideTier } from "../../../../src/runtime/sandbox/pyodide/pyodide-tier.ts";
import { openPyodideSandbox } from "../../../../src/runtime/sandbox/pyodide/pyodide-sandbox.ts";
import { recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { codeRun } from "../../../contract/sandbox/runs.ts";
import { isSlowAsked, openPyodideForTests, peers } from "./open-pyodide.ts";

const parts = findDenoFiles(peers);

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

it.skipIf(typeof parts === "string" || process.getuid?.() !== 0 || !isSlowAsked)(
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

it.skipIf(typeof parts === "string" || process.getuid?.() !== 0 || !isSlowAsked)(
  "runs a deno and a pyodide that only root can read",
  async ({ onTestFinished }) => {
    if (typeof parts === "string") return;
    const closed = mkdtempSync(join(tmpdir(), "closed-"));
    onTestFinished(() => rmSync(closed, { recursive: true }));
    const hidden = { deno: join(closed, "deno"), pyodide: join(closed, "pyodide") };
    cpSync(parts.deno, hidden.deno);
    cpSync(parts.pyodide, hidden.pyodide, { recursive: true });
    const pool = { size: 1, idleMs: 1000 };
    const sandbox = await openPyodideSandbox({ files: hidden, pool, clock: systemClock, log: silentLog });
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

let root = "";
const path = process.env["PATH"];

function packageAt(name: string, files: readonly string[] = []): string {
  const directory = join(root, "node_modules", name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name, version: "1.0.0" }));
  for (const file of files) writeFileSync(join(directory, file), "");
  return directory;
}

const platforms: Record<string, string> = { x64: "linux-x64-glibc", arm64: "linux-arm64-glibc" };
const platform = process.platform === "linux" ? platforms[process.arch] : undefined;

describe.runIf(platform !== undefined)("findDenoParts", () => {
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-find-")));
    process.env["PATH"] = join(root, "bin");
  });
  afterEach(() => {
    process.env["PATH"] = path;
    rmSync(root, { recursive: true });
  });

  it("finds the platform package of deno if install scripts are disabled", () => {
    packageAt("deno", ["bin.cjs"]);
    const deno = join(packageAt(`@deno/${platform ?? ""}`, ["deno"]), "deno");
    const pyodide = packageAt("pyodide");
    expect(findDenoFiles([], root)).toEqual({ deno, pyodide });
    expect(findDenoFiles([root], "/")).toEqual({ deno, pyodide });
  });

  it("finds the copy of deno that its install script makes", () => {
    const deno = join(packageAt("deno", ["bin.cjs", "deno"]), "deno");
    packageAt("pyodide");
    expect(findDenoFiles([], root)).toMatchObject({ deno });
  });

  it("names the missing packages", () => {
    expect(findDenoFiles([], root)).toBe("deno and pyodide not found.");
    packageAt("pyodide");
    expect(findDenoFiles([], root)).toBe("deno not found.");
  });

  it("finds a deno binary on PATH and ignores the script of the npm package", () => {
    const pyodide = packageAt("pyodide");
    const script = join(packageAt("deno", ["bin.cjs"]), "bin.cjs");
    mkdirSync(join(root, "bin"));
    chmodSync(script, 0o755);
    symlinkSync(script, join(root, "bin", "deno"));
    expect(findDenoFiles([], root)).toBe("deno not found.");
    rmSync(join(root, "bin", "deno"));
    writeFileSync(join(root, "bin", "deno"), "");
    chmodSync(join(root, "bin", "deno"), 0o755);
    expect(findDenoFiles([], root)).toEqual({ deno: join(root, "bin", "deno"), pyodide });
  });
});
