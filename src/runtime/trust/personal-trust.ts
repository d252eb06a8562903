import { type Steps, runInSlices } from "../../base/promises.ts";
import { type Capabilities, isNothing } from "../../skills/permissions.ts";
import type { Question, Reply } from "../question.ts";
import type {
  Asker,
  Authorization,
  FullTrustRequest,
  GrantTerms,
  ReadSkill,
  Trust,
  TrustOptions,
  TrustRequest,
} from "../trust.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";
import { Decisions, onlyOnce, questionKey } from "./decisions.ts";
import { type Grant, type Subject, reachIndex } from "./grants.ts";
import type { Policy } from "./policy.ts";
import { Questions } from "./questions.ts";
import { ReadApproval } from "./read-approval.ts";
import { onlyPolicy } from "./refusals.ts";
import { RunApproval, type TrustContext, decideRun } from "./run-approval.ts";

export function createTrust(options: TrustOptions): Trust {
  return new PersonalTrust(options);
}

class PersonalTrust implements Trust {
  readonly policyFor: Trust["policyFor"];
  readonly #context: TrustContext;
  readonly #decisions: Decisions;
  readonly #questions: Questions;

  constructor(options: TrustOptions) {
    this.policyFor = options.policyFor;
    this.#decisions = new Decisions(options);
    this.#context = { ...options, decisions: this.#decisions };
    this.#questions = new Questions(this.#context);
  }

  async authorize(request: FullTrustRequest, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    return await this.#questions.resolve(new RunApproval(request, asker, this.#context), signal);
  }

  async decide(request: TrustRequest, asker: Asker): Promise<Authorization | undefined> {
    return await decideRun(request, asker, this.#context);
  }

  async questionFor(request: FullTrustRequest, asker: Asker): Promise<Question | undefined> {
    return await new RunApproval(request, asker, this.#context).question();
  }

  async answered(
    request: FullTrustRequest,
    asker: Asker,
    reply: Reply,
    { notify, ...terms }: GrantTerms = {},
  ): Promise<Authorization> {
    const notifyOnce = onlyOnce(notify);
    const outcome = await new RunApproval(request, asker, this.#context).answer(reply, notifyOnce, terms);
    notifyOnce(outcome);
    return outcome;
  }

  async mayRead(skill: ReadSkill, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    return await this.#questions.resolve(new ReadApproval(skill, asker, this.#context), signal);
  }

  async mayRunUnasked(skill: ReadSkill, asker: Asker): Promise<boolean> {
    const refused = this.#decisions.sessions.get(asker.owner)?.refused;
    if (this.policyFor(asker.directory).runs !== "sandbox" || skill.origin !== undefined) return false;
    if (refused?.has(questionKey("run", skill.directory)) === true) return false;
    return (await new ReadApproval(skill, asker, this.#context).decide())?.allowed === true;
  }

  async trustProject(directory: string, asker: Asker): Promise<Authorization> {
    const { policyFor, projectOf } = this.#context;
    const policy = policyFor(directory);
    if (reachIndex(policy.approvals) < reachIndex("project")) return onlyPolicy(`the skills of ${directory}`);
    const trusted = this.#decisions.signature(asker);
    const scope = { project: projectOf(directory, policy.worktrees) };
    await this.#decisions.store(scope, (approvals) => ({ ...approvals, trusted }));
    return { allowed: true, by: "project" };
  }

  consent(owner: string, directory: string): void {
    this.#decisions.sessions.consent(owner, directory);
  }

  newTurn(owner: string): void {
    this.#decisions.sessions.newTurn(owner);
  }

  endSession(owner: string): void {
    this.#decisions.sessions.delete(owner);
  }

  async standings(
    skills: readonly StandingSkill[],
    asker: Pick<Asker, "owner" | "directory">,
  ): Promise<readonly Standing[]> {
    const policy = this.policyFor(asker.directory);
    const stored = await this.#decisions.stored(asker.directory, policy);
    const subjects = skills.map(({ subject }) => subject);
    return await standingsOf(skills, {
      policy,
      blocked: await this.#decisions.blockedOf(subjects, stored, policy),
      decide: (request) => this.decide(request, { ...asker, door: "cli" }),
    });
  }

  async approvalsFor(directory: string | undefined): Promise<readonly Approvals[]> {
    return await this.#decisions.stored(directory, this.policyFor(directory));
  }

  sessionGrants(owner: string): readonly Grant[] {
    return this.#decisions.sessions.get(owner)?.grants ?? [];
  }

  async takeBack(
    what: { readonly grant: string } | { readonly blocksOf: Omit<Subject, "digest"> },
    asker: Asker,
    notify?: () => void,
  ): Promise<boolean> {
    return await this.#decisions.takeBack(what, asker, { policy: this.policyFor(asker.directory), notify });
  }

  onChange(listener: () => void): () => void {
    return this.#decisions.onChange(listener);
  }
}

/** How a skill stands: whether it can be used now. */
export type Standing = "ready" | "needs-approval" | "blocked" | "denied";

export interface StandingSkill {
  readonly subject: Omit<Subject, "digest">;
  /** What its runs need. */
  readonly needs: Capabilities;
  /** Whether it has code that runs, which a policy may demand an approval for. */
  readonly hasCode: boolean;
  /** Called only for skills that may need an approval; undefined if its files cannot be read. */
  readonly digest: () => Promise<string | undefined>;
}

interface Deciding {
  readonly policy: Pick<Policy, "approvals" | "denies" | "runs">;
  readonly blocked: ReadonlySet<StandingSkill["subject"]>;
  readonly decide: (request: TrustRequest) => Promise<Authorization | undefined>;
}

/** How each skill stands. Most are decided by their names alone; files are hashed only of those that want something. */
async function standingsOf(skills: readonly StandingSkill[], deciding: Deciding): Promise<readonly Standing[]> {
  const { policy, blocked, decide } = deciding;
  const standings: Standing[] = [];

  async function findByDigest({ subject, needs, digest: digestOf }: StandingSkill, place: number): Promise<void> {
    const digest = await digestOf();
    if (digest === undefined) return;
    const decided = await decide({ subject: { ...subject, digest }, needs, wants: needs });
    if (decided?.allowed === true) standings[place] = "ready";
  }

  function* find(): Steps<void> {
    for (const [place, skill] of skills.entries()) {
      const { subject, needs, hasCode } = skill;
      const isDenied = policy.denies(subject, needs) !== undefined;
      if (isDenied) standings[place] = "denied";
      else if (blocked.has(subject)) standings[place] = "blocked";
      else if (isNothing(needs) && (!hasCode || (policy.runs === "sandbox" && subject.origin === undefined)))
        standings[place] = "ready";
      else {
        // Then nobody can approve it.
        standings[place] = policy.approvals === "none" ? "denied" : "needs-approval";
        yield findByDigest(skill, place);
      }
      yield;
    }
  }

  await runInSlices(find());
  return standings;
}
