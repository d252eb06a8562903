import { type Clock, withinTime } from "../../base/clock.ts";
import { Metric, otherValue } from "../../wire/metric.ts";
import type { Database } from "../database.ts";
import { type ClusterStatus, readStatus } from "./cluster-status.ts";

/** However often they are asked for, the database is read once in this time. */
const freshMs = 5_000;
/** A database that takes longer counts as out of reach: whoever asks for metrics does not wait for long. */
const patienceMs = 3_000;
/** Label sets with a series of their own, and the longest of them: labels are words of those who run skills. */
const mostSets = 20;
const longestSet = 200;

/**
 * The metrics of a cluster, of its database as it was some seconds ago at most; `catalogAge`: milliseconds since this member's list of
 * published skills was that of the database. What it returns never rejects.
 */
export function clusterMetrics(
  database: Database,
  clock: Clock,
  catalogAge?: () => number | undefined,
): () => Promise<string> {
  let shown: Promise<string> | undefined;
  const ofCatalog = (): string => {
    const age = catalogAge?.();
    if (age === undefined) return "";
    const metric = gauge("catalog_age_seconds", "How old the list of published skills is here.");
    metric.add([], age / 1_000);
    return metric.render();
  };
  return async () => {
    if (shown === undefined) {
      shown = withinTime(readStatus(database), clock, patienceMs)
        .catch(() => undefined)
        .then((status) => (status === undefined ? reachable(0).render() : renderStatus(status)));
      void shown.then(() => clock.after(freshMs, () => (shown = undefined)));
    }
    return (await shown) + ofCatalog();
  };
}

function gauge(name: string, help: string, labels: readonly string[] = []): Metric {
  return new Metric("gauge", `acp_skills_cluster_${name}`, help, { labels });
}

function reachable(value: 0 | 1): Metric {
  const metric = gauge("reachable", "Whether the database of the cluster answered.");
  metric.add([], value);
  return metric;
}

/** A status in the text format of Prometheus. */
function renderStatus({ schema, members, runs, queue, leases, tables }: ClusterStatus): string {
  const version = gauge("schema", "The schema of the database.");
  version.add([], schema.number);
  const present = gauge("members", "Members by kind; those past their lease are gone.", ["kind", "state"]);
  const slots = gauge("worker_slots", "Runs that workers can execute at a time.");
  slots.add([], 0);
  for (const kind of ["server", "wrapper", "worker"])
    for (const state of ["live", "gone"]) present.add([kind, state], 0);
  for (const { kind, concurrency, lease_seconds } of members) {
    present.add([kind, lease_seconds > 0 ? "live" : "gone"], 1);
    if (kind === "worker" && lease_seconds > 0) slots.add([], concurrency);
  }
  const current = gauge("runs", "Runs that wait, and that are executed.", ["status"]);
  for (const status of ["queued", "running"] as const) current.add([status], runs[status]);
  const demand = gauge("demand_runs", "Runs that wait or are executed: what workers are needed for.");
  demand.add([], runs.queued + runs.running);
  const waiting = gauge("queue_runs", "Runs that wait, by the labels that they ask for.", ["labels"]);
  for (const [at, { labels, waiting: count }] of queue.entries()) {
    const set = labels.join(",");
    waiting.add([at < mostSets && set.length <= longestSet ? set : otherValue], count);
  }
  const oldest = gauge("queue_oldest_seconds", "How long the oldest run has waited.");
  oldest.add([], Math.max(0, ...queue.map(({ oldest_seconds }) => oldest_seconds)));
  const expired = gauge("leases_expired", "Runs whose worker is past its lease.");
  expired.add([], leases.filter(({ lease_seconds }) => lease_seconds <= 0).length);
  const bytes = gauge("database_bytes", "Size of the tables with their indexes.");
  bytes.add(
    [],
    tables.reduce((sum, table) => sum + table.bytes, 0),
  );
  return [reachable(1), version, present, slots, current, demand, waiting, oldest, expired, bytes]
    .map((metric) => metric.render())
    .join("");
}
