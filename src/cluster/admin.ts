import type { Settings } from "../runtime/options.ts";
import { type ClaimCount, type ClusterStatus, countClaims, readStatus } from "./admin/cluster-status.ts";
import { inCluster } from "./admin/in-cluster.ts";

export { migrateCluster } from "./admin/migrate-cluster.ts";
export { examineCluster, type ClusterExamination } from "./admin/examine-cluster.ts";
export { type ClusterReceipt, publishInCluster, withdrawInCluster } from "./admin/publish-skills.ts";
export { findProblems, toDuration } from "./admin/status-problems.ts";
export { openWorkerMonitor, type WorkerMonitor } from "./admin/worker-monitor.ts";
export { clusterNodeFault } from "./open-cluster.ts";
export { parseClusterUrl } from "./database.ts";
export type { ClusterStatus };

/** What the cluster is doing that the settings name. Rejects with INVALID_OPTIONS where it cannot be used, and with ENDPOINT_UNREACHABLE. */
export async function readClusterStatus(settings: Settings): Promise<ClusterStatus> {
  return await inCluster(settings, readStatus);
}

/** Which worker executed how many runs. Rejects as `readClusterStatus` does. */
export async function readClaims(settings: Settings): Promise<readonly ClaimCount[]> {
  return await inCluster(settings, countClaims);
}
