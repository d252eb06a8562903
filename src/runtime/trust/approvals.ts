import type { CopiedFile } from "../../skills/files.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";

export { type Approvals, changeApprovals, nothingApproved, parseApprovals } from "./approvals/scope-approvals.ts";
export { diskApprovals } from "./approvals/disk-approvals.ts";

/** Which file: that of a project, or of everywhere. */
export type ApprovalScope = { readonly project: string } | "everywhere";

/** The port to a person's answers. Shared by all processes of this user. */
export interface ApprovalStore {
  /** Nothing granted where nothing is stored, or where the file is damaged or not the user's own; that is reported once. Never throws. */
  read(scope: ApprovalScope): Promise<Approvals>;
  /**
   * Changes what is stored, and no other process does so meanwhile. Durable when it resolves. `change` may be called again, if another
   * process was faster. Throws UNREADABLE if it cannot be written, QUOTA_EXCEEDED if it becomes too much, and what `change` throws.
   */
  change(scope: ApprovalScope, change: (before: Approvals) => Approvals): Promise<Approvals>;
  /** Every scope with a file: everywhere first, then projects in order. */
  scopes(): Promise<readonly ApprovalScope[]>;
  /** The files of an approved version; undefined if they are not stored. */
  readCopy(digest: string): Promise<readonly CopiedFile[] | undefined>;
  /** Stores them for `readCopy`, after the grant, as long as a grant of any scope names the digest. Never throws. */
  keepCopy(digest: string, files: readonly CopiedFile[]): Promise<void>;
}
