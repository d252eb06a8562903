import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "vitest";
import { diskApprovals } from "../../../src/trust/disk/disk-approvals.ts";
import { describeApprovalStore } from "../../contract/approval-store.ts";

describeApprovalStore("diskApprovals", () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-approvals-"));
  return {
    store: diskApprovals(path.join(directory, "trust"), { log: () => expect.fail() }),
    close: () => {
      rmSync(directory, { recursive: true });
    },
  };
});
