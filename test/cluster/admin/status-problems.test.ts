import { expect, test } from "vitest";
import type { ClusterStatus } from "../../../src/cluster/admin/cluster-status.ts";
import { findProblems, toDuration } from "../../../src/cluster/admin/status-problems.ts";

type Member = ClusterStatus["members"][number];

const worker = (changes: Partial<Member> = {}): Member => ({
  id: "w",
  kind: "worker",
  host: "one",
  pid: 7,
  version: "1.0.0",
  labels: ["tier=bubblewrap", "arch=x64"],
  concurrency: 2,
  age_seconds: 100,
  lease_seconds: 15,
  ...changes,
});

function problemsOf(status: Partial<ClusterStatus>): readonly string[] {
  const schema = { number: 5, oldest: 5 };
  const runs = { queued: 0, running: 0 };
  return findProblems({ version: "1.0.0", schema, runs, members: [], queue: [], leases: [], tables: [], ...status });
}

test("a cluster in which nothing waits for long has no problems", () => {
  expect(problemsOf({})).toEqual([]);
  const queue = [{ labels: ["arch=x64"], waiting: 900, oldest_seconds: 60 }];
  expect(problemsOf({ members: [worker()], queue })).toEqual([]);
});

test("a member past its lease is named, with what to do", () => {
  expect(problemsOf({ members: [worker({ lease_seconds: -185 })] })).toEqual([
    "The worker on one (process 7) is 3 min past its lease: it was killed, or does not reach the database. See its log, or start another one.",
  ]);
});

test("runs wait for no worker, for labels that none has, or for too few of them", () => {
  const queue = [{ labels: ["gpu", "arch=x64"], waiting: 3, oldest_seconds: 2 }];
  const gone = worker({ labels: ["gpu", "arch=x64"], lease_seconds: 0 });
  expect(problemsOf({ queue })).toEqual(["3 runs wait, and there is no worker: start one with acp-skills worker."]);
  expect(problemsOf({ queue, members: [worker(), gone] }).at(-1)).toBe(
    "3 runs wait for gpu, arch=x64, which no worker has: start one there, or one with --labels.",
  );
  const long = [{ labels: [], waiting: 1, oldest_seconds: 7_300 }];
  expect(problemsOf({ queue: long, members: [worker()] })).toEqual([
    "1 run waits, the oldest for 2 h, though 1 worker may take them: start more, or raise --concurrency.",
  ]);
});

test("versions beside each other are named once each", () => {
  const members = [worker(), worker({ version: "0.9.0" }), worker({ version: "0.9.0", kind: "server" })];
  expect(problemsOf({ members })).toEqual([
    "2 members of version 0.9.0 are beside version 1.0.0: update all of them to one version.",
  ]);
});

test("a run past the lease of its worker is named", () => {
  const leases = [{ run_id: "run_a", worker: "w", fence: 1, age_seconds: 30, lease_seconds: -2 }];
  expect(problemsOf({ leases })).toEqual([
    "The run run_a is 2 s past the lease of its worker: another one takes it, or it is interrupted.",
  ]);
});

test.each([
  [-0.2, "0 s"],
  [0, "0 s"],
  [59.9, "59 s"],
  [60, "1 min"],
  [3_599, "59 min"],
  [86_399, "23 h"],
  [200_000, "2 d"],
])("%s seconds are %s", (seconds, text) => {
  expect(toDuration(seconds)).toBe(text);
});
