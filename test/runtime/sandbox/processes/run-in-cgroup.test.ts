import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { type CgroupSystem, findCgroups, systemCgroups } from "../../../../src/runtime/sandbox/processes/cgroups.ts";
import { openLandlockTier } from "../../../../src/runtime/sandbox/processes/process-tiers.ts";
import type { Sandbox } from "../../../../src/runtime/sandbox.ts";
import { recordingHost } from "../../../contract/sandbox/recording-host.ts";
import { codeRun } from "../../../contract/sandbox/runs.ts";

const abort = new AbortController().signal;
const mebibyte = 1024 * 1024;

/** A directory that imitates `/sys/fs/cgroup`, with the processes of this machine. */
function fakeCgroups(): CgroupSystem & { readonly directory: string } {
  const directory = mkdtempSync(join(tmpdir(), "run-in-cgroup-"));
  const root = join(directory, "cgroup");
  mkdirSync(root);
  for (const [name, content] of [
    ["cgroup.controllers", "memory pids"],
    ["cgroup.subtree_control", "memory pids"],
    ["cgroup.procs", ""],
  ] as const)
    writeFileSync(join(root, name), content);
  const proc = join(directory, "proc");
  mkdirSync(join(proc, "self"), { recursive: true });
  writeFileSync(join(proc, "self/cgroup"), "0::/\n");
  return { directory, root, proc, write: writeFileSync, remove: (path) => rmSync(path, { recursive: true }) };
}

async function open(cgroups: CgroupSystem): Promise<Sandbox | { readonly reason: string }> {
  return openLandlockTier({
    python: undefined,
    temporaryDirectory: undefined,
    pool: { size: 0, idleMs: 0 },
    egress: undefined,
    clock: systemClock,
    log: silentLog,
    cgroups,
  });
}

const cgroupsIn = (parent: string): string[] => readdirSync(parent).filter((name) => name.startsWith("acp-skills-"));
const run = codeRun("def main(): print('here')", { limits: { memoryBytes: 512 * mebibyte, diskBytes: 16 * mebibyte } });

test.skipIf(process.platform !== "linux")(
  "runs in a cgroup with the limits of the run, and removes it afterwards",
  async (context) => {
    const fake = fakeCgroups();
    context.onTestFinished(() => rmSync(fake.directory, { recursive: true }));
    const found = findCgroups();
    const [system, parent] = "parent" in found ? [systemCgroups, found.parent] : [fake, fake.root];
    const sandbox = await open(system);
    if ("reason" in sandbox) return context.skip(sandbox.reason);
    const seen: { memory: string; processes: string }[] = [];
    const host = recordingHost({
      print() {
        const [name = "none"] = cgroupsIn(parent);
        const read = (file: string): string => readFileSync(join(parent, name, file), "utf8").trim();
        seen.push({ memory: read("memory.max"), processes: read("cgroup.procs") });
      },
    });
    expect(await sandbox.run(run, host, abort)).toMatchObject({ type: "returned" });
    expect(seen[0]).toEqual({
      memory: String((512 + 3 * 16 + 128) * mebibyte),
      processes: expect.stringMatching(/^\d+/) as string,
    });
    await sandbox.close();
    expect(cgroupsIn(parent)).toEqual([]);
  },
);

test.skipIf(process.platform !== "linux")(
  "reports the memory limit for a run that the kernel killed out of memory",
  async (context) => {
    const fake = fakeCgroups();
    context.onTestFinished(() => rmSync(fake.directory, { recursive: true }));
    const sandbox = await open(fake);
    if ("reason" in sandbox) return context.skip(sandbox.reason);
    const host = recordingHost({
      print() {
        const [name = "none"] = cgroupsIn(fake.root);
        writeFileSync(join(fake.root, name, "memory.events"), "oom_kill 1\n");
      },
    });
    expect(await sandbox.run(run, host, abort)).toEqual({ type: "limit", limit: "memory" });
    await sandbox.close();
  },
);

test.skipIf(process.platform !== "linux")("runs without a cgroup if none can be created", async (context) => {
  const fake = fakeCgroups();
  context.onTestFinished(() => rmSync(fake.directory, { recursive: true }));
  const write = (file: string): void => {
    throw new Error(`${file}: EPERM`);
  };
  const sandbox = await open({ ...fake, write });
  if ("reason" in sandbox) return context.skip(sandbox.reason);
  expect(await sandbox.run(run, recordingHost(), abort)).toMatchObject({ type: "returned" });
  await sandbox.close();
  expect(cgroupsIn(fake.root)).toEqual([]);
  expect(existsSync(fake.root)).toBe(true);
});
