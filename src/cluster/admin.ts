export { countClaims, readStatus, type ClusterStatus } from "./admin/cluster-status.ts";
export { inCluster } from "./admin/in-cluster.ts";
export { migrateCluster } from "./admin/migrate-cluster.ts";
export { examineCluster, type ClusterExamination } from "./admin/examine-cluster.ts";
export { type ClusterReceipt, publishInCluster, withdrawInCluster } from "./admin/publish-skills.ts";
export { findProblems, toDuration } from "./admin/status-problems.ts";
export { openWorkerMonitor, type WorkerMonitor } from "./admin/worker-monitor.ts";
export { clusterNodeFault } from "./open-cluster.ts";
export { parseClusterUrl } from "./database.ts";
