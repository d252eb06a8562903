import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { examineCluster } from "../../../src/cluster/admin/examine-cluster.ts";
import { type WorkerMonitor, openWorkerMonitor } from "../../../src/cluster/admin/worker-monitor.ts";
import { clusterNodeFault } from "../../../src/cluster/open-cluster.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import { clusterFault } from "../modern-node.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";

describe.skipIf(clusterFault())("the monitor of a worker", () => {
  let server: PostgresServer;
  let monitor: WorkerMonitor;
  let isReady = false;
  const settingsOf = (cluster: string) => readOptions({ cluster, log: silentLog });
  beforeAll(async () => {
    server = await startPostgres();
    const cluster = await server.newDatabase();
    monitor = await openWorkerMonitor(settingsOf(cluster), { host: "127.0.0.1", port: 0, isReady: () => isReady });
  }, 60_000);
  afterAll(async () => {
    await monitor.close();
    server.stop();
  });
  const get = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(monitor.url + path, init);
    return [response.status, await response.text()];
  };

  test("lives at once, and is ready when the worker takes runs", async () => {
    expect(await get("/healthz")).toEqual([200, "ok\n"]);
    expect(await get("/readyz")).toEqual([503, "It takes no runs.\n"]);
    isReady = true;
    expect(await get("/readyz")).toEqual([200, "ok\n"]);
  });

  test("has the metrics of the cluster, and nothing else", async () => {
    const [status, text] = await get("/metrics");
    expect(status).toBe(200);
    expect(text).toContain('acp_skills_cluster_runs{status="queued"} 0\n');
    expect(await get("/other")).toEqual([404, "Not found.\n"]);
    expect(await get("/constructor")).toEqual([404, "Not found.\n"]);
    expect(await get("/metrics", { method: "POST", body: "x" })).toEqual([405, "Method not allowed; use GET.\n"]);
  });

  test("opens while the database is away, and says so in its metrics", async () => {
    const settings = settingsOf("postgres://acp@127.0.0.1:1/x");
    const alone = await openWorkerMonitor(settings, { host: "127.0.0.1", port: 0, isReady: () => true });
    const text = await (await fetch(`${alone.url}/metrics`)).text();
    expect(text).toMatch(/^acp_skills_cluster_reachable 0$/m);
    await alone.close();
  });

  test("refuses a port in use with the error of the system", async () => {
    const { port } = new URL(monitor.url);
    const opening = openWorkerMonitor(settingsOf(await server.newDatabase()), { host: "127.0.0.1", port: Number(port), isReady: () => true }); // prettier-ignore
    await expect(opening).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("a cluster that can be used is examined with its schema, one that cannot with the reason", async () => {
    const usable = await examineCluster(settingsOf(await server.newDatabase()));
    expect(usable).toMatchObject({ usable: true, faults: [], schema: expect.any(Number) as number });
    const nowhere = await examineCluster(settingsOf("postgres://acp:hunter2@127.0.0.1:1/x"));
    expect(nowhere).toMatchObject({ usable: false, database: "postgres://acp@127.0.0.1:1/x" });
    expect(nowhere.faults).toEqual([expect.stringMatching(/cannot be used: .*ECONNREFUSED/)]);
    const wrong = await examineCluster(settingsOf("mysql://127.0.0.1/x"));
    expect(wrong).toEqual({ usable: false, faults: [expect.stringMatching(/needs the URL of a PostgreSQL database/)] });
  });
});

test.skipIf(clusterNodeFault() === undefined)(
  "an older Node is the first fault, and the database is not asked",
  async () => {
    const examined = await examineCluster(readOptions({ cluster: "postgres://127.0.0.1:1/x", log: silentLog }));
    expect(examined).toEqual({
      usable: false,
      database: "postgres://127.0.0.1:1/x",
      faults: [expect.stringMatching(/needs Node 22\.12/)],
    });
  },
);
