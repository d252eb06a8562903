import type { Clock } from "../base/clock.ts";
import type { CopiedFile } from "../skills/files.ts";
import type { Signature } from "../skills/signature.ts";
import type { Capabilities } from "../skills/permissions.ts";
import type { Ask } from "./question.ts";
import type { ConfiguredGrants } from "./trust/configured-grants.ts";
import type { ApprovalScope } from "./trust/approvals.ts";
import type { DecisionsOptions } from "./trust/decisions.ts";
import type { Reach, Subject } from "./trust/grants.ts";
import type { Policy } from "./trust/policy.ts";
import type { OutcomeListener } from "./trust/questions.ts";

export {
  type ApprovalScope,
  type ApprovalStore,
  type Approvals,
  diskApprovals,
  parseApprovals,
} from "./trust/approvals.ts";
export { ConfiguredGrants } from "./trust/configured-grants.ts";
export { type Subject, blocks, kindOf, reachOf } from "./trust/grants.ts";
export {
  type Policy,
  type PolicyDecision,
  type PolicyLayer,
  type PolicyRefusal,
  type SharedPolicy,
  createPolicies,
  explainPolicies,
  readPolicyText,
  toLayer,
} from "./trust/policy.ts";
export { ofRepository, projectOf, repositoryAt } from "./trust/project-of.ts";
export type { Standing, Trust } from "./trust/personal-trust.ts";

/** Whether something may be done: by what, or why not and what the user can do. */
export type Authorization =
  /**
   * `by`: `sandbox`, `own`, `source`, `once`, `consent`, `session`, `project`, `policy FILE RULE`, `--grant TEXT`, `granted TEXT` for the
   * grants of a remote caller, or the id of a grant.
   */
  | { readonly allowed: true; readonly by: string }
  | { readonly allowed: false; readonly why: string; readonly hint: string };

/** Who wants something, and how a person can be asked. */
export interface Asker {
  /** Approvals for a session are those of its owner, and so are blobs. */
  readonly owner: string;
  /** The configured name of a caller from elsewhere, or `anonymous`. Absent: this machine's user. */
  readonly caller?: string | undefined;
  /** The session's directory. */
  readonly directory?: string | undefined;
  readonly door: string;
  readonly sessionId?: string | undefined;
  /** The session id of the subagent of that session for which it is wanted. Absent: the session itself, as far as is known. */
  readonly subagent?: string | undefined;
  /** Absent where there is nobody to ask. */
  readonly ask?: Ask | undefined;
  /** For a remote caller: what counts instead of the approvals of this machine's user and of `--grant`. */
  readonly grants?: ConfiguredGrants | undefined;
}

/** A block that would refuse a skill: of these, none is there now. */
export interface Blocker {
  readonly scope: ApprovalScope;
  readonly skill: string;
  readonly from: "own" | "project" | "remote";
}

/** A skill whose code calls another one. */
export interface CallingSkill {
  readonly name: string;
  readonly digest: string;
  /** It is in one of the person's own roots. */
  readonly isOwn: boolean;
}

/** What a skill wants to do. */
export interface TrustRequest {
  readonly subject: Subject;
  /** What this call needs. */
  readonly needs: Capabilities;
  /** Everything that the skill declares: what a question states and a grant covers. */
  readonly wants: Capabilities;
  /** Absent: a person or a model calls. */
  readonly calledBy?: CallingSkill | undefined;
  /** Another skill whose name looks the same. */
  readonly lookAlike?: (() => string | undefined) | undefined;
  /** Who signed the skill: called only where that is shown or a policy demands it. Absent: nobody looks. */
  readonly signature?: (() => Promise<Signature>) | undefined;
  /** Tools of the agent that the skill's author expects: shown, never granted. */
  readonly expects?: readonly string[] | undefined;
}

/** A request about which a person can be asked. */
export interface FullTrustRequest extends TrustRequest {
  /** The skill's files, for showing what changed. Throws SKILL_NOT_READY if they are no longer those of the digest. */
  readonly files: () => Promise<readonly CopiedFile[]>;
}

/** A question, its answer, or a refusal without asking, for the record. */
export interface TrustEvent {
  readonly type: "asked" | "answered" | "refused";
  /** For an answer: whether it allows what was asked. */
  readonly allowed?: boolean;
  readonly asker: Pick<Asker, "caller" | "directory" | "door" | "sessionId" | "subagent">;
  readonly about: "run" | "read";
  /** Without a digest where only its name counts. */
  readonly subject: Pick<Subject, "name" | "version"> & { readonly digest?: string | undefined };
  /** The answer, or why there is none. */
  readonly answer?: string;
  /** The question; the grant, `once` or `session`; or the reason of a refusal. */
  readonly detail?: string;
}

export interface TrustOptions extends DecisionsOptions {
  /** The policy for the project of a directory; of the organisation alone without one. */
  readonly policyFor: (directory: string | undefined) => Policy;
  readonly configured: ConfiguredGrants;
  readonly clock: Clock;
  /** Must not throw. */
  readonly record: (event: TrustEvent) => void;
}

/** Terms that a person sets for a grant. */
export interface GrantTerms {
  /** Default: everywhere for a person's own skill that wants no access to the project, else this project; of a block likewise. */
  readonly reach?: Reach | undefined;
  /** ISO 8601, UTC. Default: until it is revoked. */
  readonly expires?: string | undefined;
  readonly notify?: OutcomeListener | undefined;
}

/** A skill that a model wants to read. */
export type ReadSkill = Omit<Subject, "digest">;
