import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe } from "vitest";
import { silentLog } from "../../../../src/base/log.ts";
import type { ApprovalStore } from "../../../../src/runtime/trust/approvals.ts";
import { describeApprovalStore } from "../../../contract/approval-store.ts";

const hasSqlite = (process.getBuiltinModule as (name: string) => unknown)("node:sqlite") !== undefined;

describe.runIf(hasSqlite)("the example's approvals", () => {
  let openApprovals: (context: object) => ApprovalStore;
  beforeEach(async () => {
    const module = (await import(new URL("../../../../examples/sqlite-approvals.js", import.meta.url).href)) as {
      default: typeof openApprovals;
    };
    openApprovals = module.default;
  });

  describeApprovalStore("a table of SQLite", () => {
    const dataDirectory = mkdtempSync(path.join(tmpdir(), "acp-skills-sqlite-"));
    return {
      store: openApprovals({ dataDirectory, log: silentLog, blobs: {} }),
      close: () => rmSync(dataDirectory, { recursive: true }),
    };
  });
});
