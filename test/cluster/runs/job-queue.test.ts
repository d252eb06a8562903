import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { type Database, openDatabase, parseClusterUrl } from "../../../src/cluster/database.ts";
import { type JobQueue, migrateQueue, openJobQueue, queueOf } from "../../../src/cluster/runs/job-queue.ts";
import { clusterFault } from "../modern-node.ts";
import { type PostgresServer, startPostgres } from "../postgres.ts";

describe.skipIf(clusterFault())("the queue of a cluster", () => {
  let server: PostgresServer;
  let url: string;
  let database: Database;
  let queue: JobQueue;
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.newDatabase();
    database = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock });
    await migrateQueue(database, silentLog);
    queue = openJobQueue(database, { log: silentLog, supervise: false, perOwner: 2 });
  }, 60_000);
  afterAll(async () => {
    await queue.close();
    await database.close();
    server.stop();
  });

  const send = async (runId: string, owner: string): Promise<void> => {
    const ownerKey = createHash("sha256").update(owner).digest();
    await database.transaction(async (queries) => await queue.send(queries, { runId, labels: [], ownerKey }));
  };
  const fetch = async () => await queue.fetch(queueOf([]), 10);

  test("gives several jobs at once, of one owner as many as may be executed at a time, and no fewer for a lost worker", async () => {
    for (const runId of ["run_1", "run_2", "run_3"]) await send(runId, "ada");
    await send("run_4", "bob");
    const lost = await fetch();
    expect(lost).toHaveLength(3);
    expect(lost.map(({ runId }) => runId)).toContain("run_4");
    expect(await fetch()).toEqual([]);

    // The worker that has them is gone: one run of this owner is queued again, the other one is given up.
    const [again = "", givenUp = ""] = lost.map(({ runId }) => runId).filter((runId) => runId !== "run_4");
    await database.transaction(async (queries) => {
      for (const runId of [again, givenUp]) await queue.remove(queries, { runId, labels: [] });
    });
    await send(again, "ada");
    const found = (await fetch()).map(({ runId }) => runId);
    expect(found).toHaveLength(2);
    expect(found).toContain(again);
    expect(found).not.toContain(givenUp);
  });

  test("is open before the first transactions hold all connections", async () => {
    const narrow = await openDatabase(parseClusterUrl(url), { log: silentLog, clock: systemClock, connections: 2 });
    const other = openJobQueue(narrow, { log: silentLog, supervise: false });
    const submit = async (runId: string): Promise<void> => {
      await other.prepare([]);
      const run = { runId, labels: [], ownerKey: Buffer.from("zoe") };
      await narrow.transaction(async (queries) => await other.send(queries, run));
    };
    await Promise.all(["run_8", "run_9"].map(submit));
    expect(await other.fetch(queueOf([]), 10)).toHaveLength(2);
    await other.close();
    await narrow.close();
  });

  test("completes jobs of several calls together, and makes room for their owner", async () => {
    for (const runId of ["run_5", "run_6", "run_7"]) await send(runId, "eve");
    const jobs = await fetch();
    expect(jobs).toHaveLength(2);
    await Promise.all(jobs.map(async (job) => await queue.complete(job)));
    expect(await fetch()).toHaveLength(1);
    expect(await fetch()).toEqual([]);
  });
});
