import { spawn } from "node:child_process";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../.build/base/clock.js";
import { openDatabase, parseClusterUrl } from "../../.build/cluster/database.js";
import { openJobQueue, migrateQueue } from "../../.build/cluster/runs/job-queue.js";
import { insertRun } from "../../.build/cluster/runs/run-rows.js";
import { openLeases } from "../../.build/cluster/worker/leases.js";
import { takeRuns } from "../../.build/cluster/worker/take-runs.js";
import { openGivenPorts } from "../../.build/given-ports.js";
import { openApp } from "../../.build/runtime/app.js";
import { createCaller } from "../../.build/runtime/caller.js";
import { readOptions } from "../../.build/runtime/options.js";
import { alternate, summarise, summariseDifference, summariseRatio } from "./measure.js";

/** @import { Bench } from "./main.js" */
/** @import { Row } from "./report.js" */

const empty = { language: "python", code: "def main():\n    return 1" };
const rounds = 60;
const burst = 24;
const queued = 2_000;

/**
 * Measures runs through the queue and workers of a cluster, each worker a process of its own, beside the same runs in process. Needs
 * PostgreSQL here, and a Node that loads TypeScript.
 * @param {Bench} bench
 * @returns {Promise<Row[]>}
 */
export async function measureClusterRuns({ folder, say }) {
  const { postgresFault, startPostgres } = await import("../cluster/postgres.ts");
  const { clusterNodeFault } = await import("../../.build/cluster/open-cluster.js");
  const fault = postgresFault() ?? clusterNodeFault();
  if (fault !== undefined) {
    say(`cluster-runs is not measured: ${fault}`);
    return [];
  }
  const server = await startPostgres();
  /** @type {(() => unknown)[]} */
  const closing = [() => server.stop()];
  try {
    const url = await server.newDatabase();
    const database = await openDatabase(parseClusterUrl(url), { log: silent, clock: systemClock, connections: 20 });
    closing.push(() => database.close());
    await migrateQueue(database, silent);
    const [synchronous] = await database.query("show synchronous_commit");
    const perSecond = await measureQueue(database);

    const local = await openRunner(join(folder, "local"), undefined);
    const cluster = await openRunner(join(folder, "server"), url);
    closing.push(local.close, cluster.close);
    closing.push(await startWorker(join(folder, "one"), url));
    const times = await alternate({ ours: () => timeOf(cluster.run), floor: () => timeOf(local.run) }, rounds);
    closing.push(await startWorker(join(folder, "two"), url));
    const bursts = await alternate({ ours: () => burstOf(cluster.run), floor: () => burstOf(local.run) }, 5);
    const added = summariseDifference(times.ours, times.floor);
    const ratio = summariseRatio(bursts.ours, bursts.floor);
    return [
      {
        what: "an empty run through queue and worker, more than in process",
        unit: "ms",
        ours: added,
        floor: { is: "in process", value: summarise(times.floor) },
        target: "≤ + 8 ms p50",
        holds: added.median <= 8,
      },
      {
        what: "runs/s with two workers of one run at a time",
        unit: "/s",
        ours: summarise(bursts.ours),
        peer: { is: "one machine's own queue, two at a time", value: summarise(bursts.floor) },
        ratio,
        target: "≥ 0.8 ×",
        holds: ratio.median >= 0.8,
      },
      {
        what: `runs/s through the queue alone: submitted, claimed, ended (synchronous_commit=${String(synchronous?.synchronous_commit)})`,
        unit: "/s",
        ours: summarise(perSecond),
        target: "≥ 500 /s",
        holds: summarise(perSecond).median >= 500,
      },
    ];
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

function silent() {}

/**
 * Runs that end at once, from their submission on.
 * @param {import("../../.build/cluster/database.js").Database} database
 */
async function measureQueue(database) {
  const queue = openJobQueue(database, { log: silent, supervise: false, perOwner: 1_000 });
  const worker = randomUUID();
  const common = { database, worker, leaseMs: 45_000, clock: systemClock, log: silent };
  const leases = openLeases(database, common);
  let left = 0;
  let done = () => {};
  const endRuns = takeRuns({
    ...{ ...common, queue, leases, labels: [], concurrency: 32 },
    recordClaim: async () => {},
    execute: () => {
      if (--left === 0) setImmediate(() => done());
      return Promise.resolve({ status: "completed", result: "{}", events: "[]" });
    },
  });
  const submit = async () => {
    const runId = `run_${randomBytes(8).toString("hex")}`;
    const ownerKey = createHash("sha256")
      .update(String(Math.floor(Math.random() * 10)))
      .digest();
    const lists = { labels: [], grantIds: [], blockKeys: [] };
    const texts = { spec: "{}", context: "{}", events: "[]" };
    const row = { runId, ownerKey, member: worker, hasEffects: false, ttlMs: 86_400_000, ...lists, ...texts };
    await database.transaction(async (queries) => {
      if (!(await insertRun(queries, row, { ofOwner: 100_000, bytesOfOwner: 1e9, all: 100_000 })))
        throw new Error("The queue is full.");
      await queue.send(queries, { runId, labels: [], ownerKey });
    });
  };
  const perSecond = [];
  for (let round = 0; round < 4; round++) {
    left = queued;
    const all = new Promise((resolve) => (done = () => resolve(undefined)));
    const start = performance.now();
    let unsent = queued;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        while (unsent-- > 0) await submit();
      }),
    );
    await all;
    if (round > 0) perSecond.push((queued / (performance.now() - start)) * 1_000);
  }
  await endRuns(1_000, new Error("measured"));
  leases.close();
  await queue.close();
  return perSecond;
}

/**
 * @param {string} dataDirectory
 * @param {string | undefined} cluster
 */
async function openRunner(dataDirectory, cluster) {
  const settings = readOptions({ dataDirectory, defaultRoots: false, log: silent, ...(cluster && { cluster }) });
  const app = openApp(settings, await openGivenPorts(settings));
  const session = app.openSession({});
  await session.catalog.ready;
  const caller = createCaller(session, { transport: "mcp" });
  return {
    run: async () => {
      const result = /** @type {{ output?: unknown }} */ (await app.toolbox.call("run_code", empty, caller));
      if (result.output !== 1) throw new Error(`The run failed: ${JSON.stringify(result)}`);
    },
    close: async () => {
      session.close();
      await app.close();
    },
  };
}

/**
 * @param {string} directory
 * @param {string} url
 */
async function startWorker(directory, url) {
  mkdirSync(directory, { recursive: true });
  const script = fileURLToPath(new URL("../cluster/chaos/worker-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, url, directory, "1"], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return () => child.kill("SIGKILL");
}

/**
 * One run alone: each machine has prepared its next sandbox before.
 * @param {() => Promise<void>} work
 */
async function timeOf(work) {
  await setTimeout(100);
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** @param {() => Promise<void>} work */
async function burstOf(work) {
  const start = performance.now();
  await Promise.all(Array.from({ length: burst }, work));
  return (burst / (performance.now() - start)) * 1_000;
}
