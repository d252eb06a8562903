import { randomBytes } from "node:crypto";
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
import { type Capabilities, covers, isNothing } from "../../skills/permissions.ts";
import { changesOf } from "../../skills/copied-files.ts";
import { Decisions, questionKey } from "./decisions.ts";
import {
  type Grant,
  type Subject,
  allows,
  isOfOrigin,
  isScopeWithinReach,
  kindOf,
  least,
  reachIndex,
  reachOf,
} from "./grants.ts";
import type { Policy } from "./policy.ts";
import { ProjectReading } from "./project-reading.ts";
import { type Question, type Reply, askAboutSkill } from "../question.ts";
import { Questions, onlyOnce } from "./questions.ts";
import { blocked, notGranted, onlyPolicy, refusalOf } from "./refusals.ts";
import { type Standing, type StandingSkill, standingsOf } from "./standings.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";

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
      keep: (reply, notify) => this.answered(request, asker, reply, { notify }),
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
      if (pregranted !== undefined && covers(pregranted.capabilities, needs))
        return { allowed: true, by: `policy ${pregranted.file} ${pregranted.rule}` };
      const isLasting = reachIndex(policy.approvals) >= reachIndex("session");
      const grants = asker.grants ?? this.#options.configured;
      const configured = isLasting ? grants.capabilitiesOf(subject, wants) : undefined;
      if (configured !== undefined && covers(configured.capabilities, needs))
        return { allowed: true, by: `${asker.grants === undefined ? "--grant" : "granted"} ${configured.texts}` };
    }
    const access = { subject, wants: needs, calledBy };
    const now = this.#options.now();
    const isAllowed = (grant: Grant): boolean => allows(grant, access, now);
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
    { notify, ...terms }: GrantTerms = {},
  ): Promise<Authorization> {
    const notifyOnce = onlyOnce(notify);
    const outcome = await this.#keep(request, asker, reply, { ...terms, notify: notifyOnce });
    notifyOnce(outcome);
    return outcome;
  }

  async #keep(
    request: FullTrustRequest,
    asker: Asker,
    reply: Reply,
    { reach: wanted, expires, notify }: GrantTerms,
  ): Promise<Authorization> {
    const { subject, wants, calledBy } = request;
    const { answer } = reply;
    if (answer !== "once" && answer !== "trust") {
      const refusal = refusalOf(request, reply);
      const terms = { policy: this.policyFor(asker.directory), reach: wanted, notify: () => notify?.(refusal) };
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
      if (await this.#decisions.change(scope, change, () => notify?.(allowed))) {
        await this.#options.store.keepCopy(subject.digest, files);
        return allowed;
      }
    }
    const { grants } = this.#decisions.sessions.of(asker.owner);
    if (grants.length < maxSessionGrants) grants.push(grant);
    this.#decisions.notifyChange();
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
    notify?: () => void,
  ): Promise<boolean> {
    return await this.#decisions.takeBack(what, asker, { policy: this.policyFor(asker.directory), notify });
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
