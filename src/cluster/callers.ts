export { type CallerFollower, followCallers } from "./callers/follow-callers.ts";
export { type CallerRecords, openCallerRecords } from "./callers/caller-records.ts";
export { type PolicyRecords, followPolicy, openPolicyRecords } from "./callers/cluster-policy.ts";
