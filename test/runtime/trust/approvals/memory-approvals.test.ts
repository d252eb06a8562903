import { describeApprovalStore } from "../../../contract/approval-store.ts";
import { memoryApprovals } from "./memory-approvals.ts";

describeApprovalStore("memoryApprovals", () => ({ store: memoryApprovals() }));
