import { type Signature, noSignature } from "../../skills/signature.ts";
import { type Steps, runInSlices } from "../../base/promises.ts";
import { type Capabilities, isNothing } from "../../skills/permissions.ts";
import type { Question, Reply } from "../question.ts";
import type {
  TrustCaller,
  Authorization,
  Blocker,
  FullTrustRequest,
  GrantTerms,
  TrustOptions,
  TrustRequest,
  TrustScope,
} from "../trust.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";
import { Decisions, onlyOnce, questionKey } from "./decisions.ts";
import { type Grant, type UnhashedSkill, kindOf, reachIndex } from "./grants.ts";
import { Questions } from "./questions.ts";
import { approvalToRead } from "./read-approval.ts";
import { onlyPolicy } from "./refusals.ts";
import { type TrustContext, approvalToRun, decideRun } from "./run-approval.ts";

/** Decides which exact version of which skill may do what. Nothing else reads grants. */
export class Trust {
  readonly policyFor: TrustOptions["policyFor"];
  readonly #context: TrustContext;
  readonly #decisions: Decisions;
  readonly #questions: Questions;

  constructor(options: TrustOptions) {
    this.policyFor = options.policyFor;
    this.#decisions = new Decisions(options);
    this.#context = { ...options, decisions: this.#decisions };
    this.#questions = new Questions(this.#context);
  }

  /** Decides about a run, and asks the user if nothing decides it. Rejects only with the reason of `signal`. */
  async authorize(request: FullTrustRequest, caller: TrustCaller, signal: AbortSignal): Promise<Authorization> {
    return await this.#questions.resolve(approvalToRun(request, caller, this.#context), signal);
  }

  /** Decides like `authorize`, but without asking or recording; undefined if the user would be asked. */
  async decide(request: TrustRequest, caller: TrustCaller): Promise<Authorization | undefined> {
    return await decideRun(request, caller, this.#context);
  }

  /** Every block that would refuse this skill to this caller. */
  blockersOf(skill: UnhashedSkill, { directory }: Pick<TrustCaller, "directory">): readonly Blocker[] {
    const scopes = this.#decisions.scopesOfBlocks(skill, directory, this.policyFor(directory));
    return scopes.map((scope) => ({ scope, skill: skill.name, from: kindOf(skill) }));
  }

  /** The question that `authorize` would ask; undefined if none may be asked. */
  async questionFor(request: FullTrustRequest, caller: TrustCaller): Promise<Question | undefined> {
    return await approvalToRun(request, caller, this.#context).question();
  }

  /** Applies the user's answer to a question that was asked elsewhere, like `authorize` does. */
  async answered(
    request: FullTrustRequest,
    caller: TrustCaller,
    reply: Reply,
    { notify, ...terms }: GrantTerms = {},
  ): Promise<Authorization> {
    const notifyOnce = onlyOnce(notify);
    const outcome = await approvalToRun(request, caller, this.#context).answer(reply, notifyOnce, terms);
    notifyOnce(outcome);
    return outcome;
  }

  /** Whether a model may read a skill that came with a project. `directory`: of the skill. */
  async mayRead(skill: UnhashedSkill, caller: TrustCaller, signal: AbortSignal): Promise<Authorization> {
    return await this.#questions.resolve(approvalToRead(skill, caller, this.#context), signal);
  }

  /**
   * Whether a run inside the sandbox needs no question. False if the skill is from the network, models may not read it, a
   * policy demands an approval, or the user answered "not now".
   */
  async mayRunUnasked(skill: UnhashedSkill, caller: TrustCaller): Promise<boolean> {
    const refused = this.#decisions.sessions.get(caller.owner)?.refused;
    if (this.policyFor(caller.directory).runs !== "sandbox" || skill.origin !== undefined) return false;
    if (refused?.has(questionKey("run", skill.directory)) === true) return false;
    return (await approvalToRead(skill, caller, this.#context).decide())?.allowed === true;
  }

  /** Lets models read the skills that came with the project of a directory, because the user allows it. */
  async trustProject(directory: string, caller: TrustCaller): Promise<Authorization> {
    const { policyFor, projectOf } = this.#context;
    const policy = policyFor(directory);
    if (reachIndex(policy.approvals) < reachIndex("project")) return onlyPolicy(`the skills of ${directory}`);
    const trusted = this.#decisions.signature(caller);
    const scope = { project: projectOf(directory, policy.worktrees) };
    await this.#decisions.store(scope, (approvals) => ({ ...approvals, trusted }));
    return { allowed: true, by: "project" };
  }

  /** The user invoked a skill: models of the session may read it, and refused questions are asked again. `directory`: of the skill. */
  consent(owner: string, directory: string): void {
    this.#decisions.sessions.consent(owner, directory);
  }

  /** Begins a turn, because the user wrote a prompt: unanswered questions may be asked again. */
  newTurn(owner: string): void {
    this.#decisions.sessions.newTurn(owner);
  }

  /** Forgets the approvals of a session. */
  endSession(owner: string): void {
    this.#decisions.sessions.delete(owner);
  }

  /** The standing of each skill, in the same order; nobody is asked. Names decide most; only skills that want something are hashed. */
  async standings(skills: readonly StandingSkill[], caller: TrustScope): Promise<readonly Standing[]> {
    const policy = this.policyFor(caller.directory);
    const stored = await this.#decisions.stored(caller.directory, policy);
    const judgedSkills = skills.map(({ skill }) => skill);
    const blocked = await this.#decisions.blockedOf(judgedSkills, stored, policy);
    const standings: Standing[] = [];
    const findByDigest = async (skill: StandingSkill, isFree: boolean, index: number): Promise<void> => {
      const { skill: judged, needs, digest: digestOf, signature = noSignature } = skill;
      const digest = await digestOf();
      if (digest === undefined) return;
      const signed = (): Promise<Signature> => signature(digest);
      if ((await policy.deniesSigner?.(judged, signed)) !== undefined) {
        standings[index] = "denied";
        return;
      }
      const request = { skill: { ...judged, digest }, needs, wants: needs, signature: signed };
      if (isFree) standings[index] = "ready";
      else if ((await this.decide(request, { ...caller, transport: "cli" }))?.allowed === true)
        standings[index] = "ready";
    };

    function* find(): Steps<void> {
      for (const [index, skill] of skills.entries()) {
        const { skill: judged, needs, hasCode } = skill;
        const isFree = isNothing(needs) && (!hasCode || (policy.runs === "sandbox" && judged.origin === undefined));
        if (policy.denies(judged, needs) !== undefined) standings[index] = "denied";
        else if (blocked.has(judged)) standings[index] = "blocked";
        else if (isFree && policy.deniesSigner === undefined) standings[index] = "ready";
        else {
          // With approvals "none", nobody can approve it.
          standings[index] = policy.approvals === "none" ? "denied" : "needs-approval";
          yield findByDigest(skill, isFree, index);
        }
        yield;
      }
    }

    await runInSlices(find());
    return standings;
  }

  /** The stored approvals for everywhere, and for the project of a directory. Never throws. */
  async approvalsFor(directory: string | undefined): Promise<readonly Approvals[]> {
    return await this.#decisions.stored(directory, this.policyFor(directory));
  }

  /** The grants that count only for a session of this process. */
  sessionGrants(owner: string): readonly Grant[] {
    return this.#decisions.sessions.get(owner)?.grants ?? [];
  }

  /**
   * Takes back a grant, by its id, or the blocks of a skill, in the scopes that count for the caller. Returns whether any existed; if so,
   * `notify` is called before it is taken back. Throws UNREADABLE if the change cannot be stored.
   */
  async takeBack(
    what: { readonly grant: string } | { readonly blocksOf: UnhashedSkill },
    caller: TrustCaller,
    notify?: () => void,
  ): Promise<boolean> {
    return await this.#decisions.takeBack(what, caller, { policy: this.policyFor(caller.directory), notify });
  }

  /** Calls `listener` when an answer may have changed the standing of skills. It must not throw. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    return this.#decisions.onChange(listener);
  }
}

/** The standing of a skill: whether it can be used now. */
export type Standing = "ready" | "needs-approval" | "blocked" | "denied";

export interface StandingSkill {
  readonly skill: UnhashedSkill;
  /** The capabilities that its runs need. */
  readonly needs: Capabilities;
  /** Whether it has code that runs: a policy may demand an approval for it. */
  readonly hasCode: boolean;
  /** Hashes the skill; undefined if its files cannot be read. Called only for skills that may need an approval. */
  readonly digest: () => Promise<string | undefined>;
  /** Reads who signed the skill. Called only if a policy demands a signer. Absent: signatures are not checked. */
  readonly signature?: (digest: string) => Promise<Signature>;
}
