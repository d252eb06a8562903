import type { Clock } from "../base/clock.ts";
import type { CopiedFile } from "../skills/files.ts";
import type { Signature } from "../skills/signature.ts";
import type { Capabilities } from "../skills/permissions.ts";
import type { Ask } from "./question.ts";
import type { ConfiguredGrants } from "./trust/configured-grants.ts";
import type { ApprovalScope } from "./trust/approvals.ts";
import type { DecisionsOptions } from "./trust/decisions.ts";
import type { Reach, JudgedSkill } from "./trust/grants.ts";
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
export { type JudgedSkill, blocks, kindOf, reachOf } from "./trust/grants.ts";
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

/** Whether something may be done. If allowed, `by` names the reason; if not, `hint` says what the user can do. */
export type Authorization =
  /**
   * `by`: `sandbox`, `own`, `source`, `once`, `consent`, `session`, `project`, `policy FILE RULE`, `--grant TEXT`, `granted TEXT` for the
   * grants of a remote caller, or the id of a grant.
   */
  | { readonly allowed: true; readonly by: string }
  | { readonly allowed: false; readonly why: string; readonly hint: string };

/** The caller of a tool or a skill, and the way to ask the user. */
export interface TrustCaller {
  /** The owner of the session, to whom the session's approvals and blobs belong. */
  readonly owner: string;
  /** The configured name of a remote caller, or `anonymous`. Absent: this machine's user. */
  readonly callerName?: string | undefined;
  /** The session's directory. */
  readonly directory?: string | undefined;
  readonly transport: string;
  readonly sessionId?: string | undefined;
  /** The session id of the calling subagent of the session. Absent: the session itself calls, as far as is known. */
  readonly subagent?: string | undefined;
  /** Asks the user. Absent if nobody can be asked. */
  readonly ask?: Ask | undefined;
  /** The grants of a remote caller, which replace the approvals of this machine's user and `--grant`. */
  readonly grants?: ConfiguredGrants | undefined;
}

/** The owner and directory whose approvals count. */
export type TrustScope = Pick<TrustCaller, "directory" | "owner">;

/** A block that is not set, but would refuse a skill if it were. */
export interface Blocker {
  readonly scope: ApprovalScope;
  readonly skill: string;
  readonly from: "own" | "project" | "remote";
}

/** A skill whose code calls another one. */
export interface CallingSkill {
  readonly name: string;
  readonly digest: string;
  /** Whether the skill is in one of the user's own roots. */
  readonly isOwn: boolean;
}

/** A request to let a skill run, with the access that it wants. */
export interface TrustRequest {
  readonly skill: JudgedSkill;
  /** The capabilities that this call needs. */
  readonly needs: Capabilities;
  /** All capabilities that the skill declares: a question states them, and a grant covers them. */
  readonly wants: Capabilities;
  /** The skill whose code calls this one. Absent: the user or a model calls. */
  readonly calledBy?: CallingSkill | undefined;
  /** Another skill whose name looks the same. */
  readonly lookAlike?: (() => string | undefined) | undefined;
  /** Reads who signed the skill. Called only to show the signer, or if a policy demands one. Absent: signatures are not checked. */
  readonly signature?: (() => Promise<Signature>) | undefined;
  /** Tools of the agent that the skill's author expects: shown, never granted. */
  readonly expects?: readonly string[] | undefined;
}

/** A request about which the user can be asked. */
export interface FullTrustRequest extends TrustRequest {
  /** The skill's files, for showing what changed. Throws SKILL_NOT_READY if they no longer have the digest. */
  readonly files: () => Promise<readonly CopiedFile[]>;
}

/** A question, its answer, or a refusal without asking, for the record. */
export interface TrustEvent {
  readonly type: "asked" | "answered" | "refused";
  /** For an answer: whether it allows what was asked. */
  readonly allowed?: boolean;
  readonly caller: Pick<TrustCaller, "callerName" | "directory" | "transport" | "sessionId" | "subagent">;
  readonly about: "run" | "read";
  /** The skill; without a digest if only its name counts. */
  readonly skill: Pick<JudgedSkill, "name" | "version"> & { readonly digest?: string | undefined };
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
  /** Records an event. Must not throw. */
  readonly record: (event: TrustEvent) => void;
}

/** Terms that the user sets for a grant. */
export interface GrantTerms {
  /** Default for a grant: see `reachOf`. Default for a block: this project for a skill that came with it, else everywhere. */
  readonly reach?: Reach | undefined;
  /** The end of the grant: ISO 8601, UTC. Default: until it is revoked. */
  readonly expires?: string | undefined;
  readonly notify?: OutcomeListener | undefined;
}
