import { randomBytes } from "node:crypto";
import type { Log } from "../base/log.ts";
import type { ApprovalScope, Approvals, ApprovalStore } from "./approvals.ts";
import type { Asker, Authorization, FullTrustRequest, TrustEvent, TrustRequest } from "./authorization.ts";
import { covers, isNothing } from "./capabilities.ts";
import type { Capabilities } from "./capabilities.ts";
import { changesOf } from "./copied-files.ts";
import type { ConfiguredGrants } from "./configured-grants.ts";
import { allows, blocks } from "./grant.ts";
import type { Grant, Reach, Subject } from "./grant.ts";
import type { Policy } from "./policy/policy.ts";
import { askAboutProject, askAboutSkill } from "./question.ts";
import type { Question, Reply } from "./question.ts";
import { Questions } from "./questions.ts";
import { isWithin, least, reachIndex, reachOf } from "./reach.ts";
import { blocked, directoryOf, onlyPolicy, refusalOf, unreadable, whyRefused } from "./refusals.ts";
import { SessionTrusts } from "./session-trust.ts";
import { standingsOf } from "./standings.ts";
import type { Standing, StandingSkill } from "./standings.ts";

export interface TrustOptions {
  readonly store: ApprovalStore;
  /** The policy for the project of a directory; of the organisation alone without one. */
  readonly policyFor: (directory: string | undefined) => Policy;
  /** The id of the project that a directory belongs to. */
  readonly projectOf: (directory: string, worktrees: Policy["worktrees"]) => string;
  readonly configured: ConfiguredGrants;
  /** The user's name on this machine. */
  readonly who: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Must not throw. */
  readonly record: (event: TrustEvent) => void;
  readonly log: Log;
}

/** Terms that a person sets for a grant. */
interface GrantTerms {
  /** Default: everywhere for a person's own skill that wants no access to the project, else this project. */
  readonly reach?: Reach | undefined;
  /** ISO 8601, UTC. Default: until it is revoked. */
  readonly expires?: string | undefined;
}

/** Who allowed which exact version of which skill to do what. Nothing else looks at grants (CONTRACT C-1.6, C-5.2). */
export interface Trust {
  policyFor(directory: string | undefined): Policy;
  /** Decides about a run or a tool; asks a person where nobody has decided. Rejects only with the reason of `signal`. */
  authorize(request: FullTrustRequest, asker: Asker, signal: AbortSignal): Promise<Authorization>;
  /** The same without asking and without a record; undefined where a person would be asked. */
  decide(request: TrustRequest, asker: Asker): Promise<Authorization | undefined>;
  /** Keeps a person's answer to a question that was asked elsewhere, as `authorize` does. */
  answered(request: FullTrustRequest, asker: Asker, reply: Reply, terms?: GrantTerms): Promise<Authorization>;
  /** The question that `authorize` would ask; undefined where none may be asked. */
  questionFor(request: FullTrustRequest, asker: Asker): Promise<Question | undefined>;
  /** Whether a model may read a skill that came with a project. `directory`: of the skill. */
  mayRead(skill: ReadSkill, asker: Asker, signal: AbortSignal): Promise<Authorization>;
  /** A person lets models read the skills that came with the project of a directory. */
  trustProject(directory: string, asker: Asker): Promise<Authorization>;
  /** A person invoked this skill: the models of the session may read it. `directory`: of the skill. */
  consent(owner: string, directory: string): void;
  /** A person wrote a new prompt: what they refused before may be asked again. */
  newTurn(owner: string): void;
  /** Forgets what was approved for a session. */
  endSession(owner: string): void;
  /** How each skill stands, in the same order; nobody is asked. */
  standings(skills: readonly StandingSkill[], asker: Pick<Asker, "owner" | "directory">): Promise<readonly Standing[]>;
  /** Calls back when a person's answer may have changed how skills stand. Must not throw. Returns a function that ends this. */
  onChange(listener: () => void): () => void;
}

type Versionless = Omit<Subject, "digest">;

/** `directory`: of the skill. */
type ReadSkill = Versionless & { readonly directory: string };

const maxSessionGrants = 1_000;

export function createTrust(options: TrustOptions): Trust {
  return new PersonalTrust(options);
}

class PersonalTrust implements Trust {
  readonly #options: TrustOptions;
  readonly #sessions = new SessionTrusts();
  readonly #questions: Questions;
  readonly #listeners = new Set<() => void>();

  constructor(options: TrustOptions) {
    this.#options = options;
    this.#questions = new Questions(options.record);
  }

  policyFor(directory: string | undefined): Policy {
    return this.#options.policyFor(directory);
  }

  async authorize(request: FullTrustRequest, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    return await this.#questions.settle({
      key: keyOf(request),
      asker,
      signal,
      event: { about: request.about, subject: request.subject },
      decide: () => this.decide(request, asker),
      ask: () => this.questionFor(request, asker),
      keep: (reply) => this.answered(request, asker, reply),
    });
  }

  async decide(request: TrustRequest, asker: Asker): Promise<Authorization | undefined> {
    const { subject, needs, wants, about, calledBy } = request;
    const policy = this.policyFor(asker.directory);
    const refusal = policy.denies(subject, needs);
    if (refusal !== undefined) return { allowed: false, ...refusal };
    const stored = await this.#stored(asker, policy);
    if (await this.#isBlocked(subject, stored, policy)) return blocked(subject);
    if (about === "run" && isNothing(needs) && policy.runs === "sandbox") return { allowed: true, by: "sandbox" };
    // What the configuration and the policy grant is not for skills of a project that call this one.
    if (calledBy === undefined || calledBy.isOwn) {
      const pregranted = policy.grants(subject);
      if (pregranted !== undefined && covers(pregranted.capabilities, needs)) return { allowed: true, by: "policy" };
      const isLasting = reachIndex(policy.approvals) >= reachIndex("session");
      const configured = isLasting ? this.#options.configured.capabilitiesOf(subject, wants) : undefined;
      if (configured !== undefined && covers(configured, needs)) return { allowed: true, by: "--grant" };
    }
    const wish = { subject, wants: needs, calledBy };
    const now = this.#options.now();
    const isAllowed = (grant: Grant): boolean => allows(grant, wish, now);
    if (policy.approvals === "none") return onlyPolicy(`the skill ${subject.name}`);
    const session = this.#sessions.get(asker.owner);
    if (session?.grants.some(isAllowed) === true) return { allowed: true, by: "session" };
    // An organisation that allows approvals for one call only does not accept older ones either.
    if (reachIndex(policy.approvals) > reachIndex("session")) {
      const grant = stored.flatMap(({ grants, project }) => (isWithin(policy, project) ? grants : [])).find(isAllowed);
      if (grant !== undefined) return { allowed: true, by: grant.id };
    }
    const refused = session?.refused.get(keyOf(request));
    return refused && refusalOf(request, refused);
  }

  async questionFor(request: FullTrustRequest, asker: Asker): Promise<Question | undefined> {
    const policy = this.policyFor(asker.directory);
    if (!policy.prompts || asker.ask === undefined) return undefined;
    const { subject, calledBy } = request;
    const stored = await this.#stored(asker, policy);
    const before = stored
      .flatMap(({ grants }) => grants)
      .filter(({ skill, digest, calledBy: by }) => {
        return skill === subject.name && digest !== subject.digest && by?.skill === calledBy?.name;
      })
      .sort((one, other) => (one.when < other.when ? 1 : -1))[0];
    const copy = before && (await this.#options.store.readCopy(before.digest));
    const changed = copy === undefined ? [] : changesOf(copy, await request.files());
    const reach = reachOf(request, asker, policy);
    return askAboutSkill({ ...request, lookAlike: request.lookAlike?.(), before, changed, reach });
  }

  async answered(
    request: FullTrustRequest,
    asker: Asker,
    reply: Reply,
    { reach: wanted, expires }: GrantTerms = {},
  ): Promise<Authorization> {
    const { subject, wants, calledBy } = request;
    const { answer } = reply;
    if (answer !== "once" && answer !== "trust") {
      await this.#refused(keyOf(request), subject, asker, reply);
      return refusalOf(request, reply);
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
      ...(calledBy !== undefined && { calledBy: { skill: calledBy.name, digest: calledBy.digest } }),
      ...this.#signature(asker),
      ...(expires !== undefined && { expires }),
    };
    if (reach !== "session") {
      const isStored = await this.#change(this.#scope(reach, asker, policy), (approvals) => ({
        ...approvals,
        grants: [...approvals.grants.filter((other) => !isReplaced(other, grant)), grant],
      }));
      if (isStored) {
        await this.#options.store.keepCopy(subject.digest, files);
        return { allowed: true, by: grant.id };
      }
    }
    const { grants } = this.#sessions.of(asker.owner);
    if (grants.length < maxSessionGrants) grants.push(grant);
    this.#tellChange();
    return { allowed: true, by: "session" };
  }

  async mayRead(skill: ReadSkill, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    const { projectOf, store, configured } = this.#options;
    const policy = this.policyFor(asker.directory);
    // Of the skill: another directory of the session may be another project.
    const project = projectOf(directoryOf(skill.source), policy.worktrees);
    const key = JSON.stringify(["read", project]);
    const scope = { project };

    const decide = async (): Promise<Authorization | undefined> => {
      const refusal = policy.denies(skill, toStored({}));
      if (refusal !== undefined) return { allowed: false, ...refusal };
      if (await this.#isBlocked(skill, await this.#stored(asker, policy), policy)) return blocked(skill);
      if (skill.isOwn) return { allowed: true, by: "own" };
      const session = this.#sessions.get(asker.owner);
      if (session?.consents.has(skill.directory) === true) return { allowed: true, by: "consent" };
      if (policy.reads === "allow") return { allowed: true, by: "policy" };
      if (configured.trusts(project)) return { allowed: true, by: "--grant" };
      if (session?.projects.has(project) === true || session?.readable.has(project) === true)
        return { allowed: true, by: "session" };
      if (policy.approvals === "none") return onlyPolicy(`the skill ${skill.name}`);
      const isLasting = reachIndex(policy.approvals) >= reachIndex("project");
      if (isLasting && (await store.read(scope)).trusted !== undefined) return { allowed: true, by: "project" };
      const refused = session?.refused.get(key);
      return refused && unreadable(skill, whyRefused(refused));
    };

    const keep = async (reply: Reply): Promise<Authorization> => {
      const { answer } = reply;
      if (answer !== "once" && answer !== "trust") {
        await this.#refused(key, skill, asker, reply);
        return answer === "block" ? blocked(skill) : unreadable(skill, whyRefused(reply));
      }
      const decided = await decide();
      if (decided?.allowed === false) return decided;
      const session = this.#sessions.of(asker.owner);
      if (answer === "once") session.readable.add(project);
      else if (least("project", policy.approvals) === "session") session.projects.add(project);
      else if (!(await this.#change(scope, (approvals) => ({ ...approvals, trusted: this.#signature(asker) }))))
        session.projects.add(project);
      return { allowed: true, by: answer === "once" ? "once" : "project" };
    };

    return await this.#questions.settle({
      key,
      asker,
      signal,
      event: { about: "read", subject: skill },
      decide,
      ask: () =>
        Promise.resolve(
          policy.prompts && asker.ask ? askAboutProject(project, skill, least("project", policy.approvals)) : undefined,
        ),
      keep,
    });
  }

  async trustProject(directory: string, asker: Asker): Promise<Authorization> {
    const policy = this.policyFor(directory);
    if (reachIndex(policy.approvals) < reachIndex("project")) return onlyPolicy(`the skills of ${directory}`);
    const scope = { project: this.#options.projectOf(directory, policy.worktrees) };
    await this.#options.store.change(scope, (approvals) => ({ ...approvals, trusted: this.#signature(asker) }));
    return { allowed: true, by: "project" };
  }

  consent(owner: string, directory: string): void {
    this.#sessions.of(owner).consents.add(directory);
  }

  newTurn(owner: string): void {
    const session = this.#sessions.get(owner);
    session?.refused.clear();
    session?.readable.clear();
  }

  endSession(owner: string): void {
    this.#sessions.delete(owner);
  }

  async standings(
    skills: readonly StandingSkill[],
    asker: Pick<Asker, "owner" | "directory">,
  ): Promise<readonly Standing[]> {
    const policy = this.policyFor(asker.directory);
    const stored = await this.#stored(asker, policy);
    return await standingsOf(skills, {
      policy,
      approvals: stored,
      decide: (request) => this.decide(request, { ...asker, door: "cli" }),
    });
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A block of a skill of a project is in that project's scope, which is another one for further directories of a session. */
  async #isBlocked(subject: Versionless, stored: readonly Approvals[], policy: Policy): Promise<boolean> {
    const { store, projectOf } = this.#options;
    const isIn = (approvals: Approvals): boolean => approvals.blocks.some((block) => blocks(block, subject));
    if (stored.some(isIn)) return true;
    if (subject.isOwn) return false;
    const project = projectOf(directoryOf(subject.source), policy.worktrees);
    return !stored.some((approvals) => approvals.project === project) && isIn(await store.read({ project }));
  }

  async #stored(asker: Pick<Asker, "directory">, policy: Policy): Promise<readonly Approvals[]> {
    const { store, projectOf } = this.#options;
    const project = asker.directory === undefined ? undefined : projectOf(asker.directory, policy.worktrees);
    return await Promise.all([store.read("everywhere"), ...(project === undefined ? [] : [store.read({ project })])]);
  }

  #signature({ door }: Pick<Asker, "door">): Pick<Grant, "who" | "when" | "via"> {
    const { who, now } = this.#options;
    return { who, when: new Date(now()).toISOString(), via: door };
  }

  #scope(reach: "project" | "everywhere", { directory }: Pick<Asker, "directory">, policy: Policy): ApprovalScope {
    if (reach === "everywhere" || directory === undefined) return "everywhere";
    return { project: this.#options.projectOf(directory, policy.worktrees) };
  }

  /** Whether it could be stored; what cannot be stored counts for the session only. */
  async #change(scope: ApprovalScope, change: (before: Approvals) => Approvals): Promise<boolean> {
    const { store, log } = this.#options;
    try {
      await store.change(scope, change);
      this.#tellChange();
      return true;
    } catch (error) {
      log(
        "warning",
        `An answer was not stored, and counts for this session only: ${error instanceof Error ? error.message : String(error)}`,
      );
      return false;
    }
  }

  #tellChange(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Remembers a refusal: "not now" until the next prompt, a block for good. */
  async #refused(key: string, subject: Versionless, asker: Asker, reply: Reply): Promise<void> {
    if (reply.answer === undefined && (reply.missing === "nobody" || reply.missing === "cancelled")) return;
    const { refused } = this.#sessions.of(asker.owner);
    if (reply.answer !== "block") {
      refused.set(key, reply);
      return;
    }
    const { name, isOwn } = subject;
    const block = { skill: name, from: isOwn ? "own" : "project", ...this.#signature(asker) } as const;
    // Where the skill is, also for those of further directories of a session.
    const directory = directoryOf(subject.source);
    const scope = this.#scope(isOwn ? "everywhere" : "project", { directory }, this.policyFor(asker.directory));
    const isStored = await this.#change(scope, (approvals) => ({
      ...approvals,
      blocks: [...approvals.blocks.filter((other) => other.skill !== name || other.from !== block.from), block],
    }));
    if (!isStored) refused.set(key, reply);
  }
}

function keyOf({ about, subject, wants, calledBy }: TrustRequest): string {
  return JSON.stringify([about, subject.name, subject.digest, calledBy?.name, calledBy?.digest, wants]);
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

function toStored({
  network = [],
  secrets = [],
  project = "none",
  isolation,
  tools = [],
}: Partial<Capabilities>): Grant["capabilities"] {
  return { network, secrets, project, ...(isolation !== undefined && { isolation }), tools };
}
