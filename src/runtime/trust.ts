import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Asker, Authorization, FullTrustRequest, TrustEvent, TrustRequest } from "./trust/authorization.ts";
import type { Approvals } from "./trust/grants/approvals.ts";
import { covers, isNothing } from "../skills/permissions.ts";
import type { Capabilities } from "../skills/permissions.ts";
import { changesOf } from "../skills/copied-files.ts";
import type { ConfiguredGrants } from "./trust/grants/configured-grants.ts";
import { Decisions } from "./trust/decisions.ts";
import type { DecisionsOptions } from "./trust/decisions.ts";
import { allows, isOfOrigin, kindOf } from "./trust/grants/grant.ts";
import type { Grant, Reach, Subject } from "./trust/grants/grant.ts";
import type { Policy } from "./trust/policy.ts";
import { ProjectReading } from "./trust/project-reading.ts";
import type { ReadSkill } from "./trust/project-reading.ts";
import { askAboutSkill } from "./question.ts";
import type { Question, Reply } from "./question.ts";
import { onlyOnce, Questions } from "./trust/asking/questions.ts";
import type { OutcomeListener } from "./trust/asking/questions.ts";
import { isScopeWithinReach, least, reachIndex, reachOf } from "./trust/grants/reach.ts";
import { blocked, notGranted, onlyPolicy, refusalOf } from "./trust/refusals.ts";
import { questionKey } from "./trust/session-trust.ts";
import { standingsOf } from "./trust/standings.ts";
import type { Standing, StandingSkill } from "./trust/standings.ts";

export interface TrustOptions extends DecisionsOptions {
  /** The policy for the project of a directory; of the organisation alone without one. */
  readonly policyFor: (directory: string | undefined) => Policy;
  readonly configured: ConfiguredGrants;
  readonly clock: Clock;
  /** Must not throw. */
  readonly record: (event: TrustEvent) => void;
}

/** Terms that a person sets for a grant. */
interface GrantTerms {
  /** Default: everywhere for a person's own skill that wants no access to the project, else this project. */
  readonly reach?: Reach | undefined;
  /** ISO 8601, UTC. Default: until it is revoked. */
  readonly expires?: string | undefined;
  readonly tell?: OutcomeListener | undefined;
}

/** Who allowed which exact version of which skill to do what. Nothing else looks at grants (CONTRACT C-1.6, C-5.2). */
export interface Trust {
  policyFor(directory: string | undefined): Policy;
  /** Decides about a run; asks a person where nobody has decided. Rejects only with the reason of `signal`. */
  authorize(request: FullTrustRequest, asker: Asker, signal: AbortSignal): Promise<Authorization>;
  /** The same without asking and without a record; undefined where a person would be asked. */
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
   * `tell` is called before that is in force, if there was any. Throws UNREADABLE if it cannot be stored.
   */
  takeBack(
    what: { readonly grant: string } | { readonly blocksOf: Omit<Subject, "digest"> },
    asker: Asker,
    tell?: () => void,
  ): Promise<boolean>;
  /** Calls back when a person's answer may have changed how skills stand. Must not throw. Returns a function that ends this. */
  onChange(listener: () => void): () => void;
}

const maxSessionGrants = 1_000;

export function createTrust(options: TrustOptions): Trust {
  return new PersonalTrust(options);
}

class PersonalTrust implements Trust {
  readonly #options: TrustOptions;
  readonly #decisions: Decisions;
  readonly #questions: Questions;
  readonly #reading: ProjectReading;

  constructor(options: TrustOptions) {
    this.#options = options;
    const decisions = new Decisions(options);
    const questions = new Questions({ ...options, left: (owner) => decisions.left(owner) });
    this.#decisions = decisions;
    this.#questions = questions;
    this.#reading = new ProjectReading({ ...options, decisions, questions });
  }

  policyFor(directory: string | undefined): Policy {
    return this.#options.policyFor(directory);
  }

  async authorize(request: FullTrustRequest, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    return await this.#questions.settle({
      key: keyOf(request),
      asker,
      signal,
      event: { about: "run", subject: request.subject },
      decide: async () => (await this.decide(request, asker)) ?? this.#decisions.enough(asker.owner),
      ask: () => this.questionFor(request, asker),
      keep: (reply, tell) => this.answered(request, asker, reply, { tell }),
    });
  }

  async decide(request: TrustRequest, asker: Asker): Promise<Authorization | undefined> {
    const { subject, needs, wants, calledBy } = request;
    const policy = this.policyFor(asker.directory);
    const refusal = policy.denies(subject, needs);
    if (refusal !== undefined) return { allowed: false, ...refusal };
    const stored = await this.#decisions.stored(asker.directory, policy);
    if (await this.#decisions.isBlocked(subject, stored, policy)) return blocked(subject);
    // Code from elsewhere runs only after approval, even if the sandbox is all that it needs.
    const isFree = policy.runs === "sandbox" && subject.origin === undefined;
    if (isNothing(needs) && isFree) return { allowed: true, by: "sandbox" };
    // What the configuration and the policy grant is not for skills of a project that call this one.
    if (calledBy === undefined || calledBy.isOwn) {
      const pregranted = policy.grants(subject);
      if (pregranted !== undefined && covers(pregranted.capabilities, needs)) return { allowed: true, by: "policy" };
      const isLasting = reachIndex(policy.approvals) >= reachIndex("session");
      const grants = asker.grants ?? this.#options.configured;
      const configured = isLasting ? grants.capabilitiesOf(subject, wants) : undefined;
      if (configured !== undefined && covers(configured, needs)) return { allowed: true, by: "--grant" };
    }
    const wish = { subject, wants: needs, calledBy };
    const now = this.#options.now();
    const isAllowed = (grant: Grant): boolean => allows(grant, wish, now);
    if (policy.approvals === "none") return onlyPolicy(`the skill ${subject.name}`);
    // What this machine's user approved is not for others who call from elsewhere.
    if (asker.grants !== undefined) return notGranted(subject, needs);
    const session = this.#decisions.sessions.get(asker.owner);
    if (session?.grants.some(isAllowed) === true) return { allowed: true, by: "session" };
    // An organisation that allows approvals for one call only does not accept older ones either.
    if (reachIndex(policy.approvals) > reachIndex("session")) {
      const grant = stored
        .flatMap(({ grants, project }) => (isScopeWithinReach(policy, project) ? grants : []))
        .find(isAllowed);
      if (grant !== undefined) return { allowed: true, by: grant.id };
    }
    const refused = session?.refused.get(placeAsked(request));
    return refused && refusalOf(request, refused);
  }

  async questionFor(request: FullTrustRequest, asker: Asker): Promise<Question | undefined> {
    const policy = this.policyFor(asker.directory);
    if (!policy.prompts || asker.ask === undefined || this.#decisions.enough(asker.owner)) return undefined;
    const { subject, calledBy } = request;
    const stored = await this.#decisions.stored(asker.directory, policy);
    const known = stored
      .flatMap(({ grants }) => grants)
      .filter(({ skill, digest, calledBy: by }) => {
        return skill === subject.name && digest !== subject.digest && by?.skill === calledBy?.name;
      })
      .sort((one, other) => (one.when < other.when ? 1 : -1));
    // Another skill of the name is no earlier version of this one.
    const before = known.find((grant) => isOfOrigin(grant, subject));
    const another = known.find((grant) => !isOfOrigin(grant, subject));
    const copy = before && (await this.#options.store.readCopy(before.digest));
    const changed = copy === undefined ? [] : changesOf(copy, await request.files());
    const reach = reachOf(request, asker, policy);
    return askAboutSkill({ ...request, lookAlike: request.lookAlike?.(), before, another, changed, reach });
  }

  async answered(
    request: FullTrustRequest,
    asker: Asker,
    reply: Reply,
    { tell, ...terms }: GrantTerms = {},
  ): Promise<Authorization> {
    const told = onlyOnce(tell);
    const outcome = await this.#keep(request, asker, reply, { ...terms, tell: told });
    told(outcome);
    return outcome;
  }

  async #keep(
    request: FullTrustRequest,
    asker: Asker,
    reply: Reply,
    { reach: wanted, expires, tell }: GrantTerms,
  ): Promise<Authorization> {
    const { subject, wants, calledBy } = request;
    const { answer } = reply;
    if (answer !== "once" && answer !== "trust") {
      const refusal = refusalOf(request, reply);
      const terms = { policy: this.policyFor(asker.directory), tell: () => tell?.(refusal) };
      await this.#decisions.refuse(placeAsked(request), subject, asker, reply, terms);
      return refusal;
    }
    // Another window may have blocked it meanwhile, and the skill may be another one now.
    const decided = await this.decide(request, asker);
    if (decided?.allowed === false) return decided;
    const files = await request.files();
    const policy = this.policyFor(asker.directory);
    const reach = wanted === undefined ? reachOf(request, asker, policy) : least(wanted, policy.approvals);
    if (answer === "once" || reach === "once") return { allowed: true, by: "once" };
    const grant: Grant = {
      id: `grant_${randomBytes(8).toString("hex")}`,
      skill: subject.name,
      version: subject.version,
      digest: subject.digest,
      capabilities: toStored(wants),
      from: kindOf(subject),
      ...(subject.origin !== undefined && { source: subject.origin.source }),
      ...(calledBy !== undefined && { calledBy: { skill: calledBy.name, digest: calledBy.digest } }),
      ...this.#decisions.signature(asker),
      ...(expires !== undefined && { expires }),
    };
    if (reach !== "session") {
      const scope = this.#decisions.scopeOf(reach, asker.directory, policy);
      const allowed = { allowed: true, by: grant.id } as const;
      const change = ({ grants, ...approvals }: Approvals): Approvals => ({
        ...approvals,
        grants: [...grants.filter((other) => !isReplaced(other, grant)), grant],
      });
      if (await this.#decisions.change(scope, change, () => tell?.(allowed))) {
        await this.#options.store.keepCopy(subject.digest, files);
        return allowed;
      }
    }
    const { grants } = this.#decisions.sessions.of(asker.owner);
    if (grants.length < maxSessionGrants) grants.push(grant);
    this.#decisions.tellChange();
    return { allowed: true, by: "session" };
  }

  mayRead(skill: ReadSkill, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    return this.#reading.mayRead(skill, asker, signal);
  }

  async mayRunUnasked(skill: ReadSkill, asker: Asker): Promise<boolean> {
    const refused = this.#decisions.sessions.get(asker.owner)?.refused;
    if (this.policyFor(asker.directory).runs !== "sandbox" || skill.origin !== undefined) return false;
    if (refused?.has(questionKey("run", skill.directory)) === true) return false;
    return (await this.#reading.decideReading(skill, asker))?.allowed === true;
  }

  trustProject(directory: string, asker: Asker): Promise<Authorization> {
    return this.#reading.trust(directory, asker);
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
    tell?: () => void,
  ): Promise<boolean> {
    return await this.#decisions.takeBack(what, asker, { policy: this.policyFor(asker.directory), tell });
  }

  onChange(listener: () => void): () => void {
    return this.#decisions.onChange(listener);
  }
}

function keyOf({ subject, wants, calledBy }: TrustRequest): string {
  return JSON.stringify([subject.name, subject.digest, calledBy?.name, calledBy?.digest, wants]);
}

function placeAsked({ subject, calledBy }: TrustRequest): string {
  return questionKey("run", subject.directory, calledBy?.name);
}

/** An older grant of the same version that says no more than the new one. */
function isReplaced(before: Grant, after: Grant): boolean {
  return allows(
    after,
    {
      subject: { name: before.skill, digest: before.digest },
      wants: before.capabilities,
      calledBy: before.calledBy && { name: before.calledBy.skill, digest: before.calledBy.digest },
    },
    0,
  );
}

function toStored({ network, secrets, project, isolation }: Capabilities): Grant["capabilities"] {
  return { network, secrets, project, ...(isolation !== undefined && { isolation }) };
}
