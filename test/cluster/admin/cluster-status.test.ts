import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../src/cluster/database.ts";
import { readStatus } from "../../../src/cluster/admin/cluster-status.ts";
import { openPglite } from "../pglite-database.ts";
import { addMember, addRun } from "./busy-cluster.ts";

let database: Database;
beforeAll(async () => {
  database = await openPglite();
});
beforeEach(async () => {
  await database.query("delete from acp_skills.members");
  await database.query("delete from acp_skills.runs");
});
afterAll(async () => await database.close());

test("an empty cluster has a schema and tables, and nothing else", async () => {
  const status = await readStatus(database);
  expect(status).toMatchObject({ members: [], queue: [], leases: [], runs: { queued: 0, running: 0 } });
  expect(status.schema.number).toBeGreaterThanOrEqual(1);
  expect(status.tables.map(({ name }) => name)).toContain("acp_skills.members");
  for (const { bytes } of status.tables) expect(bytes).toBeGreaterThan(0);
});

test("members are listed by kind, with what is left of their lease by the clock of the database", async () => {
  await addMember(database, "worker", { labels: ["tier=landlock", "gpu"], lease: -30 });
  await addMember(database, "server");
  const { members } = await readStatus(database);
  expect(members).toMatchObject([
    { kind: "server", host: "one", pid: 7, labels: [] },
    { kind: "worker", labels: ["tier=landlock", "gpu"], concurrency: 2 },
  ]);
  expect(members[0]?.age_seconds).toBeCloseTo(90, 0);
  expect(members[0]?.lease_seconds).toBeCloseTo(15, 0);
  expect(members[1]?.lease_seconds).toBeCloseTo(-30, 0);
});

test("runs that wait are counted by their labels, with the age of the oldest; those that ended are not read", async () => {
  await addRun(database, "run_a", { labels: ["gpu"], age: 10 });
  await addRun(database, "run_b", { labels: ["gpu"], age: 40 });
  await addRun(database, "run_c", { age: 5 });
  await addRun(database, "run_d", { status: "completed", age: 500 });
  const { queue, runs, leases } = await readStatus(database);
  expect(queue).toMatchObject([
    { labels: ["gpu"], waiting: 2 },
    { labels: [], waiting: 1 },
  ]);
  expect(queue[0]?.oldest_seconds).toBeCloseTo(40, 0);
  expect(runs).toEqual({ queued: 3, running: 0 });
  expect(leases).toEqual([]);
});

test("leases of runs are listed, those that ended first", async () => {
  const worker = await addMember(database, "worker");
  await addRun(database, "run_a", { status: "running", worker, lease: 20, age: 3 });
  await addRun(database, "run_b", { status: "running", worker, lease: -4, age: 60 });
  const { leases, runs } = await readStatus(database);
  expect(leases.map(({ run_id, worker: by, fence }) => [run_id, by, fence])).toEqual([
    ["run_b", worker, 1],
    ["run_a", worker, 1],
  ]);
  expect(leases[0]?.lease_seconds).toBeCloseTo(-4, 0);
  expect(leases[0]?.age_seconds).toBeCloseTo(60, 0);
  expect(runs).toEqual({ queued: 0, running: 2 });
});
