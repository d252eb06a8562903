import type { CopiedFile } from "../../skills/files.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";

export { type Approvals, changeApprovals, nothingApproved, parseApprovals } from "./approvals/scope-approvals.ts";
export { diskApprovals } from "./approvals/disk-approvals.ts";

/** The scope of a file of approvals: one project, or everywhere. */
export type ApprovalScope = { readonly project: string } | "everywhere";

/** The port to the stored answers of the user. All processes of the user share them. */
export interface ApprovalStore {
  /** Reads a scope. A file that is missing, damaged or not the user's own grants nothing; the last two are reported once. Never throws. */
  read(scope: ApprovalScope): Promise<Approvals>;
  /**
   * Changes a scope while no other process can; durable when it resolves. `change` may be called again if another process was faster.
   * Throws UNREADABLE if the file cannot be written, QUOTA_EXCEEDED if it becomes too large, and whatever `change` throws.
   */
  change(scope: ApprovalScope, change: (before: Approvals) => Approvals): Promise<Approvals>;
  /** Every scope with a file: everywhere first, then projects in order. */
  scopes(): Promise<readonly ApprovalScope[]>;
  /** The files of an approved version; undefined if they are not stored. */
  readCopy(digest: string): Promise<readonly CopiedFile[] | undefined>;
  /** Stores files for `readCopy`, after the grant. They remain as long as a grant of any scope names the digest. Never throws. */
  keepCopy(digest: string, files: readonly CopiedFile[]): Promise<void>;
}
