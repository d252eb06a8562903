import { SkillsError } from "../base/errors.ts";
import type { Settings } from "../runtime/options.ts";
import { type ClaimCount, type ClusterStatus, countClaims, readStatus } from "./admin/cluster-status.ts";
import type { Queries } from "./database.ts";
import { connectCluster } from "./open-cluster.ts";

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
  return await ask(settings, readStatus);
}

/** Which worker executed how many runs. Rejects as `readClusterStatus` does. */
export async function readClaims(settings: Settings): Promise<readonly ClaimCount[]> {
  return await ask(settings, countClaims);
}

async function ask<Answer>(settings: Settings, work: (queries: Queries) => Promise<Answer>): Promise<Answer> {
  const database = await connectCluster(settings, 1);
  try {
    return await work(database);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SkillsError("ENDPOINT_UNREACHABLE", `The database did not answer: ${reason}`, { cause: error });
  } finally {
    await database.close();
  }
}
