import * as z from "zod";
import { blockSchema, grantSchema } from "./grant.ts";

/** A person's answers of one scope, as they are stored. */
export const approvalsSchema = z.strictObject({
  format: z.literal("acp-skills approvals 1"),
  /** The project that they are for, see `projectOf`. Absent: everywhere. */
  project: z.string().min(1).exactOptional(),
  grants: z.array(grantSchema).readonly().default([]),
  blocks: z.array(blockSchema).readonly().default([]),
  /** Models may read the instructions of the skills that came with this project. */
  trusted: z.strictObject({ who: z.string(), when: z.iso.datetime(), via: z.string() }).exactOptional(),
});

export type Approvals = z.infer<typeof approvalsSchema>;

/** Which file: that of a project, or of everywhere. */
export type ApprovalScope = { readonly project: string } | "everywhere";

/** A text file of an approved version, for showing what changed since. `text` is absent if it is binary or large. */
export interface CopiedFile {
  readonly path: string;
  readonly sha256: string;
  readonly text?: string | undefined;
}

/** The port to a person's answers. Shared by all processes of this user. */
export interface ApprovalStore {
  /** Nothing granted where nothing is stored, or where the file is damaged or not the user's own; that is reported once. Never throws. */
  read(scope: ApprovalScope): Promise<Approvals>;
  /** Changes what is stored, and no other process does so meanwhile. Durable when it resolves. Throws UNREADABLE if it cannot be written. */
  change(scope: ApprovalScope, change: (before: Approvals) => Approvals): Promise<Approvals>;
  /** Every scope with a file; projects by code point. */
  scopes(): Promise<readonly ApprovalScope[]>;
  /** The files of an approved version; undefined if they are not stored. */
  readCopy(digest: string): Promise<readonly CopiedFile[] | undefined>;
  /** Stores them for `readCopy`; kept as long as a grant names the digest. Never throws. */
  keepCopy(digest: string, files: readonly CopiedFile[]): Promise<void>;
}
