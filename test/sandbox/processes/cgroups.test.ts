import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findCgroups, openCgroup, sweepCgroups } from "../../../src/sandbox/processes/cgroups.ts";

const mebibyte = 1024 * 1024;
const limits = {
  timeoutMs: 1000,
  memoryBytes: 512 * mebibyte,
  processes: 32,
  diskBytes: 256 * mebibyte,
  printedBytes: 1,
  resultBytes: 1,
  outputFiles: 1,
};

/** A directory that imitates what the kernel shows: `/user/app/us`, with this process in the last. */
let directory = "";
const at = (...names: string[]): string => path.join(directory, ...names);
const system = () => ({ root: at("cgroup"), proc: at("proc"), write: writeFileSync });

function put(content: string, ...names: string[]): void {
  mkdirSync(path.dirname(at(...names)), { recursive: true });
  writeFileSync(at(...names), content);
}

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "cgroups-"));
  put("0::/user/app/us\n", "proc/self/cgroup");
  put("cpu memory pids\n", "cgroup/cgroup.controllers");
  for (const place of ["user/app", "user/app/us"]) put("", "cgroup", place, "cgroup.procs");
  put("memory pids\n", "cgroup/user/app/cgroup.subtree_control");
  // As where processes are: nothing can be enabled.
  mkdirSync(at("cgroup/user/app/us/cgroup.subtree_control"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("The nearest cgroup that hands memory and pids to its children is used", () => {
  expect(findCgroups(system())).toEqual({ parent: at("cgroup/user/app") });
});

test("What is missing is enabled where the kernel lets us", () => {
  put("cpu pids\n", "cgroup/user/app/cgroup.subtree_control");
  expect(findCgroups(system())).toEqual({ parent: at("cgroup/user/app") });
  expect(readFileSync(at("cgroup/user/app/cgroup.subtree_control"), "utf8")).toBe("+memory");
});

test("Where nothing above this process can be written, the reason is told", () => {
  rmSync(at("cgroup/user/app/cgroup.procs"));
  expect(findCgroups(system())).toEqual({ reason: expect.stringContaining("systemd-run --user --scope") as string });
});

test.skipIf(process.getuid?.() === 0 || process.platform === "win32")("What may only be read is passed over", () => {
  chmodSync(at("cgroup/user/app/cgroup.procs"), 0o444);
  expect(findCgroups(system())).toHaveProperty("reason");
});

test.each([
  ["of version 1", () => put("4:memory:/\n", "proc/self/cgroup")],
  ["without the memory controller", () => put("hugetlb\n", "cgroup/cgroup.controllers")],
])("A hierarchy %s is none", (_label, change) => {
  change();
  expect(findCgroups(system())).toEqual({ reason: expect.stringContaining("No cgroup v2 hierarchy") as string });
});

test("Every process of a sandbox is put into its own, which has the limits of the run", () => {
  put("11 12 ", "proc/10/task/10/children");
  put("13 ", "proc/11/task/11/children");
  const parent = at("cgroup/user/app");
  const moved: string[] = [];
  // The kernel takes one number with each write; a file keeps the last.
  const cgroup = openCgroup(parent, "1-10", 10, {
    proc: at("proc"),
    write(file, value) {
      if (file.endsWith("cgroup.procs")) moved.push(value);
      writeFileSync(file, value);
    },
  });
  expect(moved).toEqual(["10", "11", "13", "12"]);
  cgroup.limit(limits);
  const read = (name: string): string => readFileSync(path.join(parent, "acp-skills-1-10", name), "utf8");
  expect(Number(read("memory.max"))).toBe((512 + 3 * 256 + 128) * mebibyte);
  expect(Number(read("pids.max"))).toBe(2 * 32 + 32 + 16);
  expect(cgroup.ranOutOfMemory()).toBe(false);
  put("low 0\noom 1\noom_kill 0\n", "cgroup/user/app/acp-skills-1-10/memory.events");
  expect(cgroup.ranOutOfMemory()).toBe(false);
  put("low 0\noom 1\noom_kill 2\n", "cgroup/user/app/acp-skills-1-10/memory.events");
  expect(cgroup.ranOutOfMemory()).toBe(true);
});

test("One that its processes cannot be put into is not left behind", () => {
  const write = (): never => {
    throw new Error("EPERM");
  };
  expect(() => openCgroup(at("cgroup/user/app"), "1-10", 10, { proc: at("proc"), write })).toThrow("EPERM");
  expect(existsSync(at("cgroup/user/app/acp-skills-1-10"))).toBe(false);
});

test("What killed processes left is removed, and nothing that is in use or another's", () => {
  mkdirSync(at("cgroup/user/app/acp-skills-1-2"));
  // A directory that is not empty is refused, as is a cgroup with processes in it.
  put("4711\n", "cgroup/user/app/acp-skills-3-4/cgroup.procs");
  sweepCgroups(at("cgroup/user/app"));
  expect(existsSync(at("cgroup/user/app/acp-skills-1-2"))).toBe(false);
  expect(existsSync(at("cgroup/user/app/acp-skills-3-4"))).toBe(true);
  expect(existsSync(at("cgroup/user/app/us"))).toBe(true);
});

test("One that is busy when it is to be removed goes with the next of the same owner", () => {
  const parent = at("cgroup/user/app");
  const [first, second] = ["7-10", "7-11"].map((name) =>
    openCgroup(parent, name, 10, { proc: at("proc"), write: () => undefined }),
  );
  put("10\n", "cgroup/user/app/acp-skills-7-10/cgroup.procs");
  mkdirSync(path.join(parent, "acp-skills-8-12"));
  first?.remove();
  expect(existsSync(path.join(parent, "acp-skills-7-10"))).toBe(true);
  rmSync(path.join(parent, "acp-skills-7-10/cgroup.procs"));
  second?.remove();
  expect(existsSync(path.join(parent, "acp-skills-7-10"))).toBe(false);
  expect(existsSync(path.join(parent, "acp-skills-7-11"))).toBe(false);
  expect(existsSync(path.join(parent, "acp-skills-8-12"))).toBe(true);
});
