import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../../src/cluster/database.ts";
import { clusterMetrics } from "../../../src/cluster/admin/cluster-metrics.ts";
import { manualClock } from "../../manual-clock.ts";
import { openPglite } from "../pglite-database.ts";
import { addMember, addRun } from "./busy-cluster.ts";

let database: Database;
beforeAll(async () => {
  database = await openPglite();
  const worker = await addMember(database, "worker", { labels: ["gpu"], concurrency: 4 });
  await addMember(database, "worker", { lease: -60 });
  await addMember(database, "server");
  for (const at of Array(25).keys()) await addRun(database, `run_q${at}`, { labels: [`label-${at}`] });
  await addRun(database, "run_long", { labels: ["x".repeat(300)], age: 70 });
  await addRun(database, "run_late", { status: "running", worker, lease: -1 });
});
afterAll(async () => await database.close());

/** The values by name and labels. */
async function read(metrics: () => Promise<string>): Promise<ReadonlyMap<string, number>> {
  const lines = (await metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]),
  );
}

test("members, waiting and running runs, leases and sizes are gauges", async () => {
  const values = await read(clusterMetrics(database, manualClock()));
  expect(values.get("acp_skills_cluster_reachable")).toBe(1);
  expect(values.get('acp_skills_cluster_members{kind="worker",state="live"}')).toBe(1);
  expect(values.get('acp_skills_cluster_members{kind="worker",state="gone"}')).toBe(1);
  expect(values.get('acp_skills_cluster_members{kind="wrapper",state="live"}')).toBe(0);
  expect(values.get("acp_skills_cluster_worker_slots")).toBe(4);
  expect(values.get('acp_skills_cluster_runs{status="queued"}')).toBe(26);
  expect(values.get('acp_skills_cluster_runs{status="running"}')).toBe(1);
  expect(values.get("acp_skills_cluster_demand_runs")).toBe(27);
  expect(values.get("acp_skills_cluster_leases_expired")).toBe(1);
  expect(values.get("acp_skills_cluster_queue_oldest_seconds")).toBeCloseTo(70, -1);
  expect(values.get("acp_skills_cluster_database_bytes")).toBeGreaterThan(8_192);
});

test("labels of the queue have 20 series at most, and no long value: the rest is one", async () => {
  const values = await read(clusterMetrics(database, manualClock()));
  const series = [...values].filter(([name]) => name.startsWith("acp_skills_cluster_queue_runs{"));
  expect(series).toHaveLength(21);
  expect(values.get('acp_skills_cluster_queue_runs{labels="_OTHER"}')).toBe(6);
});

test("the database is read once in five seconds, however often it is asked for", async () => {
  const clock = manualClock();
  let reads = 0;
  const counted: Database = {
    ...database,
    query: async (text, values) => {
      if (text.includes("acp_skills.members")) reads++;
      return await database.query(text, values);
    },
  };
  const metrics = clusterMetrics(counted, clock);
  await Promise.all([metrics(), metrics()]);
  clock.pass(4_999);
  await metrics();
  expect(reads).toBe(1);
  clock.pass(1);
  await metrics();
  expect(reads).toBe(2);
});

test("a database that fails, or does not answer for three seconds, is out of reach, and is asked again later", async () => {
  const clock = manualClock();
  let answer = (): Promise<never> => Promise.reject(new Error("gone"));
  const metrics = clusterMetrics({ ...database, query: () => answer() }, clock);
  expect([...(await read(metrics))]).toEqual([["acp_skills_cluster_reachable", 0]]);
  answer = () => new Promise(() => undefined);
  clock.pass(5_000);
  const waiting = read(metrics);
  clock.pass(3_000);
  expect([...(await waiting)]).toEqual([["acp_skills_cluster_reachable", 0]]);
});
