import { counted } from "../../base/text/code-points.ts";
import type { ClusterStatus } from "./cluster-status.ts";

/** Runs that wait longer are reported even if there are workers for them. */
const longWaitSeconds = 60;

/** Finds the problems of a cluster; each is a sentence that says what to do. */
export function findProblems({ version, members, queue, leases }: ClusterStatus): readonly string[] {
  const isLive = ({ lease_seconds }: { readonly lease_seconds: number }): boolean => lease_seconds > 0;
  const workers = members.filter((member) => member.kind === "worker" && isLive(member));
  const gone = members
    .filter((member) => !isLive(member))
    .map(
      ({ kind, host, pid, lease_seconds }) =>
        `The ${kind} on ${host} (process ${pid}) is ${toDuration(-lease_seconds)} past its lease: it was killed, or does not reach the database. See its log, or start another one.`,
    );
  const others = new Map<string, number>();
  for (const member of members)
    if (isLive(member) && member.version !== version) others.set(member.version, (others.get(member.version) ?? 0) + 1);
  const versions = [...others].map(
    ([other, count]) =>
      `${counted(count, "member")} of version ${other} ${count === 1 ? "is" : "are"} beside version ${version}: update all of them to one version.`,
  );
  const waits = queue.flatMap(({ labels, waiting, oldest_seconds }) => {
    const runs = `${counted(waiting, "run")} ${waiting === 1 ? "waits" : "wait"}`;
    const matching = workers.filter((worker) => labels.every((label) => worker.labels.includes(label)));
    if (workers.length === 0) return [`${runs}, and there is no worker: start one with acp-skills worker.`];
    if (matching.length === 0)
      return [`${runs} for ${labels.join(", ")}, which no worker has: start one there, or one with --labels.`];
    if (oldest_seconds <= longWaitSeconds) return [];
    return [
      `${runs}, the oldest for ${toDuration(oldest_seconds)}, though ${counted(matching.length, "worker")} may take them: start more, or raise --concurrency.`,
    ];
  });
  const ended = leases
    .filter((lease) => !isLive(lease))
    .map(
      ({ run_id, lease_seconds }) =>
        `The run ${run_id} is ${toDuration(-lease_seconds)} past the lease of its worker: another one takes it, or it is interrupted.`,
    );
  return [...gone, ...versions, ...waits, ...ended];
}

/** Formats a duration in its largest unit: `3 min`. */
export function toDuration(seconds: number): string {
  const units = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
  ] as const;
  const [length, unit] = units.find(([min]) => seconds >= min) ?? [1, "s"];
  return `${Math.max(0, Math.floor(seconds / length))} ${unit}`;
}
