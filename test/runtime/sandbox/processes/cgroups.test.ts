import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CgroupParent, type CgroupSystem, findCgroups } from "../../../../src/runtime/sandbox/processes/cgroups.ts";

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

/** Imitates the cgroup file system; this process is in the cgroup `/user/app/us`. */
let directory = "";
const at = (...names: string[]): string => path.join(directory, ...names);
const parent = (): string => at("cgroup/user/app");
const system = (more: Partial<CgroupSystem> = {}): CgroupSystem => ({
  root: at("cgroup"),
  proc: at("proc"),
  write: writeFileSync,
  remove: rmdirSync,
  ...more,
});
/** The fields of `/proc/<pid>/stat`; the 22nd is when the process started. */
const stat = (started: number): string => `1 (node) S ${"0 ".repeat(18)}${started} 0\n`;
/** The name of a cgroup of this process: namespace, process and its start, sandbox. */
const ours = (sandbox: number): string => `acp-skills-77-${process.pid}-500-${sandbox}`;

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
  put("4711\n", "cgroup/user/app/us/cgroup.procs");
  put("", "cgroup/user/app/us/cgroup.subtree_control");
  for (const place of ["user/app", "user/app/us"]) put("cpu memory pids\n", "cgroup", place, "cgroup.controllers");
  put(stat(500), `proc/${process.pid}/stat`);
  mkdirSync(at("proc/self/ns"));
  symlinkSync("pid:[77]", at("proc/self/ns/pid"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("finds the nearest cgroup that enables memory and pids for its children", () => {
  expect(findCgroups(system())).toEqual({ parent: at("cgroup/user/app") });
});

test("finds a cgroup where the controllers can be enabled, and changes nothing", () => {
  put("cpu pids\n", "cgroup/user/app/cgroup.subtree_control");
  expect(findCgroups(system())).toEqual({ parent: parent() });
  expect(readFileSync(at("cgroup/user/app/cgroup.subtree_control"), "utf8")).toBe("cpu pids\n");
});

test("does not choose a cgroup with processes in it where the controllers are not enabled", () => {
  put("cpu pids\n", "cgroup/user/app/cgroup.subtree_control");
  put("4711\n", "cgroup/user/app/cgroup.procs");
  expect(findCgroups(system())).toHaveProperty("reason");
});

test("enables the missing controllers when it is opened", () => {
  put("cpu pids\n", "cgroup/user/app/cgroup.subtree_control");
  new CgroupParent(parent(), system());
  expect(readFileSync(at("cgroup/user/app/cgroup.subtree_control"), "utf8")).toBe("+memory");
});

test("says what to do where no cgroup above this process is writable", () => {
  rmSync(at("cgroup/user/app/cgroup.procs"));
  expect(findCgroups(system())).toEqual({ reason: expect.stringContaining("systemd-run --user --scope") as string });
});

test.skipIf(process.getuid?.() === 0 || process.platform === "win32")("skips a cgroup that is read-only", () => {
  chmodSync(at("cgroup/user/app/cgroup.procs"), 0o444);
  expect(findCgroups(system())).toHaveProperty("reason");
});

test.each([
  ["of version 1", () => put("4:memory:/\n", "proc/self/cgroup")],
  ["without the memory controller", () => put("hugetlb\n", "cgroup/cgroup.controllers")],
])("does not use a hierarchy %s", (_label, change) => {
  change();
  expect(findCgroups(system())).toEqual({ reason: expect.stringContaining("No cgroup v2 hierarchy") as string });
});

test("moves every process of a sandbox into its cgroup, and sets the limits of the run", () => {
  put("11 12 ", "proc/10/task/10/children");
  put("13 ", "proc/11/task/11/children");
  const moved: string[] = [];
  // The kernel accepts one pid per write; a regular file would keep only the last.
  const write = (file: string, value: string): void => {
    if (file.endsWith("cgroup.procs")) moved.push(value);
    writeFileSync(file, value);
  };
  const cgroup = new CgroupParent(parent(), system({ write })).open(10);
  expect(moved).toEqual(["10", "11", "13", "12"]);
  cgroup.limit(limits);
  const read = (name: string): string => readFileSync(path.join(parent(), ours(10), name), "utf8");
  expect(Number(read("memory.max"))).toBe((512 + 3 * 256 + 128) * mebibyte);
  expect(Number(read("pids.max"))).toBe(2 * 32 + 32 + 16);
});

test.each([
  ["no memory.events", undefined, false],
  ["oom_kill 0", "low 0\noom 1\noom_kill 0\n", false],
  ["oom_kill 2", "low 0\noom 1\noom_kill 2\n", true],
])("reports an out-of-memory kill by memory.events: %s", (_label, events, expected) => {
  const cgroup = new CgroupParent(parent(), system()).open(10);
  if (events !== undefined) put(events, "cgroup/user/app", ours(10), "memory.events");
  expect(cgroup.ranOutOfMemory()).toBe(expected);
});

test("removes the cgroup where processes cannot be moved into it", () => {
  const write = (): never => {
    throw new Error("EPERM");
  };
  expect(() => new CgroupParent(parent(), system({ write })).open(10)).toThrow("EPERM");
  expect(readdirSync(parent()).filter((name) => name.startsWith("acp-skills-"))).toEqual([]);
});

test("removes cgroups of dead processes when it is opened, and no others", () => {
  put(stat(600), "proc/8/stat");
  const dead = ["acp-skills-77-7-100-1", "acp-skills-77-8-100-1"];
  const kept = ["acp-skills-77-8-600-1", "acp-skills-99-7-100-1", ours(1), "another"];
  for (const name of [...dead, ...kept]) mkdirSync(path.join(parent(), name));
  // The kernel refuses to remove a cgroup with processes in it.
  put("4711\n", "cgroup/user/app/acp-skills-77-9-100-1/cgroup.procs");
  new CgroupParent(parent(), system());
  const left = readdirSync(parent());
  expect(left).toEqual(expect.arrayContaining([...kept, "acp-skills-77-9-100-1", "us"]));
  expect(left.filter((name) => dead.includes(name))).toEqual([]);
});

test("removes a busy cgroup together with the next one of this process", () => {
  const cgroups = new CgroupParent(parent(), system({ write: () => undefined }));
  const [first, second] = [cgroups.open(10), cgroups.open(11)];
  put("10\n", "cgroup/user/app", ours(10), "cgroup.procs");
  mkdirSync(path.join(parent(), "acp-skills-77-8-100-12"));
  first.remove();
  expect(existsSync(path.join(parent(), ours(10)))).toBe(true);
  rmSync(path.join(parent(), ours(10), "cgroup.procs"));
  second.remove();
  expect(readdirSync(parent()).filter((name) => name.startsWith("acp-skills-"))).toEqual(["acp-skills-77-8-100-12"]);
});
