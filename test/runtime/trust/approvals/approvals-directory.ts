import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach } from "vitest";
import { type DiskApprovalOptions, diskApprovals } from "../../../../src/runtime/trust/approvals/disk-approvals.ts";
import type { ApprovalStore } from "../../../../src/runtime/trust/approvals.ts";

export interface ApprovalsDirectory {
  readonly directory: string;
  /** The path of a file in it. */
  readonly at: (...names: readonly string[]) => string;
  /** What all stores logged. */
  readonly told: string[];
  readonly open: (options?: Partial<DiskApprovalOptions>) => ApprovalStore;
}

/** Each call of the returned function makes a directory; all are removed after the test. Waiting takes no time. */
export function approvalDirectories(): () => ApprovalsDirectory {
  const made: string[] = [];
  afterEach(() => {
    for (const each of made.splice(0)) rmSync(each, { recursive: true });
  });
  return () => {
    const above = realpathSync.native(mkdtempSync(path.join(tmpdir(), "acp-skills-approvals-")));
    made.push(above);
    const directory = path.join(above, "trust");
    mkdirSync(path.join(directory, "projects"), { recursive: true, mode: 0o700 });
    const told: string[] = [];
    return {
      directory,
      told,
      at: (...names) => path.join(directory, ...names),
      open: (options) =>
        diskApprovals(directory, {
          log: (level, message) => void told.push(`${level} ${message}`),
          pause: () => Promise.resolve(),
          ...options,
        }),
    };
  };
}
