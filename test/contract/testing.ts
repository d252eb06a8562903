/**
 * The contracts of the ports of `acp-skills/ports`, for those who write one: functions that declare tests of vitest. What an adapter must
 * do is what these test.
 */
export { describeApprovalStore, type OpenApprovals } from "./approval-store.ts";
export { describeBlobStore } from "./blob-store.ts";
export { describeLedger, type OpenLedger } from "./ledger.ts";
export { describeSandbox, describeSandboxPort } from "./sandbox-contract.ts";
export type { Feature, Tier } from "./sandbox/tier.ts";
export { describeSourceReader, type OpenReader } from "./source-reader.ts";
