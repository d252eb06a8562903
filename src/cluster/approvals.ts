export { openClusterApprovals } from "./approvals/cluster-approvals.ts";
export { blockKey } from "./approvals/approval-keys.ts";
