import type { Clock } from "../base/clock.ts";
import type { CopiedFile } from "../skills/copied-files.ts";
import type { Capabilities } from "../skills/permissions.ts";
import type { Ask, Question, Reply } from "./question.ts";
import type { ConfiguredGrants } from "./trust/configured-grants.ts";
import type { DecisionsOptions } from "./trust/decisions.ts";
import type { Grant, Reach, Subject } from "./trust/grants.ts";
import type { Policy } from "./trust/policy.ts";
import type { OutcomeListener } from "./trust/questions.ts";
import type { Standing, StandingSkill } from "./trust/personal-trust.ts";
import type { Approvals } from "./trust/approvals.ts";

export {
  type ApprovalScope,
  type ApprovalStore,
  type Approvals,
  diskApprovals,
  parseApprovals,
} from "./trust/approvals.ts";
export { createConfiguredGrants } from "./trust/configured-grants.ts";
export { type Subject, blocks, kindOf, reachOf, reaches } from "./trust/grants.ts";
export {
  type Policies,
  type Policy,
  type PolicyDecision,
  type PolicyLayer,
  type PolicyRefusal,
  createPolicies,
  explainPolicies,
  readPolicyText,
  toLayer,
} from "./trust/policy.ts";
export { ofRepository, projectOf, repositoryAt } from "./trust/project-of.ts";
export type { Standing } from "./trust/personal-trust.ts";

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
  /** Approvals for a session are those of its owner. */
  readonly owner: string;
  /** The configured name of a caller from elsewhere. Absent: this machine's user. */
  readonly caller?: string | undefined;
  /** The session's directory. */
  readonly directory?: string | undefined;
  readonly door: string;
  readonly sessionId?: string | undefined;
  /** Absent where there is nobody to ask. */
  readonly ask?: Ask | undefined;
  /** For a remote caller: what counts instead of the approvals of this machine's user and of `--grant`. */
  readonly grants?: ConfiguredGrants | undefined;
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
  readonly asker: Pick<Asker, "caller" | "directory" | "door" | "sessionId">;
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

/** Who allowed which exact version of which skill to do what. Nothing else looks at grants. */
export interface Trust {
  policyFor(directory: string | undefined): Policy;
  /** Decides about a run; asks a person where nobody has decided. Rejects only with the reason of `signal`. */
  authorize(request: FullTrustRequest, asker: Asker, signal: AbortSignal): Promise<Authorization>;
  /** Decides as `authorize` does, without asking and without a record; undefined where a person would be asked. */
  decide(request: TrustRequest, asker: Asker): Promise<Authorization | undefined>;
  /** Keeps a person's answer to a question that was asked elsewhere, as `authorize` does. */
  answered(request: FullTrustRequest, asker: Asker, reply: Reply, terms?: GrantTerms): Promise<Authorization>;
  /** The question that `authorize` would ask; undefined where none may be asked. */
  questionFor(request: FullTrustRequest, asker: Asker): Promise<Question | undefined>;
  /** Whether a model may read a skill that came with a project. `directory`: of the skill. */
  mayRead(skill: ReadSkill, asker: Asker, signal: AbortSignal): Promise<Authorization>;
  /**
   * Whether nobody has to be asked about a run of a skill that stays inside its sandbox: models may read it, no policy wants a word, and
   * the person has not answered "not now".
   */
  mayRunUnasked(skill: ReadSkill, asker: Asker): Promise<boolean>;
  /** A person lets models read the skills that came with the project of a directory. */
  trustProject(directory: string, asker: Asker): Promise<Authorization>;
  /** A person invoked this skill: the models of the session may read it, and what was refused is asked again. `directory`: of the skill. */
  consent(owner: string, directory: string): void;
  /** A person wrote a new prompt: what they did not answer may be asked again. */
  newTurn(owner: string): void;
  /** Forgets what was approved for a session. */
  endSession(owner: string): void;
  /** How each skill stands, in the same order; nobody is asked. */
  standings(skills: readonly StandingSkill[], asker: Pick<Asker, "owner" | "directory">): Promise<readonly Standing[]>;
  /** What is stored for everywhere, and for the project of a directory. Never throws. */
  approvalsFor(directory: string | undefined): Promise<readonly Approvals[]>;
  /** What was approved for a session of this process only. */
  sessionGrants(owner: string): readonly Grant[];
  /**
   * A person takes back a grant, by its id, or the blocks of a skill, in the scopes that count for the asker. Returns whether there was any.
   * `notify` is called before that is in force, if there was any. Throws UNREADABLE if it cannot be stored.
   */
  takeBack(
    what: { readonly grant: string } | { readonly blocksOf: Omit<Subject, "digest"> },
    asker: Asker,
    notify?: () => void,
  ): Promise<boolean>;
  /** Calls back when a person's answer may have changed how skills stand. Must not throw. Returns a function that ends this. */
  onChange(listener: () => void): () => void;
}

/** A skill that a model wants to read. `directory`: of the skill. */
export type ReadSkill = Omit<Subject, "digest"> & { readonly directory: string };
