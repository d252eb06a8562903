import { type Clock, withinTime } from "../../base/clock.ts";
import { Metric, otherValue } from "../../wire/metric.ts";
import type { Database } from "../database.ts";
import { type ClusterStatus, readStatus } from "./cluster-status.ts";

/** The database is read at most once in this time, however often the metrics are requested. */
const freshMs = 5_000;
/** A database that needs longer counts as unreachable, so that a request for metrics never waits longer. */
const patienceMs = 3_000;
/** The maximum number of label sets with a time series of their own, and their maximum length. Skills choose the labels. */
const maxSets = 20;
const maxSetLength = 200;

/**
 * Returns a function that renders the metrics of a cluster; it reads the database at most every 5 seconds, and never rejects. `catalogAge`
 * returns the milliseconds since this member's list of published skills equalled that of the database.
 */
export function clusterMetrics(
  database: Database,
  clock: Clock,
  catalogAge?: () => number | undefined,
): () => Promise<string> {
  let shown: Promise<string> | undefined;
  const ofCatalog = (): string => {
    const age = catalogAge?.();
    return age === undefined
      ? ""
      : gauge("catalog_age_seconds", "How old the list of published skills is here.", age / 1_000);
  };
  return async () => {
    if (shown === undefined) {
      shown = withinTime(readStatus(database), clock, patienceMs)
        .catch(() => undefined)
        .then((status) => (status === undefined ? reachable(0) : renderStatus(status)));
      void shown.then(() => clock.after(freshMs, () => (shown = undefined)));
    }
    return (await shown) + ofCatalog();
  };
}

type Sample = readonly [values: readonly string[], amount: number];

/** Renders a gauge of one number, or of samples that are added up by the values of their labels. */
function gauge(
  name: string,
  help: string,
  samples: number | readonly Sample[],
  labels: readonly string[] = [],
): string {
  const metric = new Metric("gauge", `acp_skills_cluster_${name}`, help, { labels });
  for (const [values, amount] of typeof samples === "number" ? [[[], samples] as const] : samples)
    metric.add(values, amount);
  return metric.render();
}

function reachable(value: 0 | 1): string {
  return gauge("reachable", "Whether the database of the cluster answered.", value);
}

/** Renders a status in the text format of Prometheus. */
function renderStatus({ schema, members, runs, queue, leases, tables }: ClusterStatus): string {
  const isLive = ({ lease_seconds }: { readonly lease_seconds: number }): boolean => lease_seconds > 0;
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  const workers = members.filter((member) => member.kind === "worker" && isLive(member));
  const none = ["server", "wrapper", "worker"].flatMap((kind) =>
    ["live", "gone"].map((state): Sample => [[kind, state], 0]),
  );
  const present = members.map((member): Sample => [[member.kind, isLive(member) ? "live" : "gone"], 1]);
  const waiting = queue.map(({ labels, waiting: count }, at): Sample => {
    const set = labels.join(",");
    return [[at < maxSets && set.length <= maxSetLength ? set : otherValue], count];
  });
  const current = (["queued", "running"] as const).map((status): Sample => [[status], runs[status]]);
  const oldest = Math.max(0, ...queue.map(({ oldest_seconds }) => oldest_seconds));
  const late = leases.filter((lease) => !isLive(lease)).length;
  return [
    reachable(1),
    gauge("schema", "The schema of the database.", schema.number),
    gauge("members", "Members by kind; those past their lease are gone.", [...none, ...present], ["kind", "state"]),
    gauge("worker_slots", "Runs that workers can execute at a time.", sum(workers.map((one) => one.concurrency))),
    gauge("runs", "Runs that wait, and that are executed.", current, ["status"]),
    gauge("demand_runs", "Runs that wait or are executed: what workers are needed for.", runs.queued + runs.running),
    gauge("queue_runs", "Runs that wait, by the labels that they ask for.", waiting, ["labels"]),
    gauge("queue_oldest_seconds", "How long the oldest run has waited.", oldest),
    gauge("leases_expired", "Runs whose worker is past its lease.", late),
    gauge("database_bytes", "Size of the tables with their indexes.", sum(tables.map(({ bytes }) => bytes))),
  ].join("");
}
