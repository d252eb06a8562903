import path from "node:path";
import { upwards } from "../../base/paths/location.ts";
import type { Log } from "../../base/log.ts";
import type { ApprovalScope, ApprovalStore } from "./approvals.ts";
import type { TrustCaller, TrustScope } from "../trust.ts";
import { type Block, type Grant, type Reach, type UnhashedSkill, blocks, kindOf } from "./grants.ts";
import type { Policy } from "./policy.ts";
import type { Reply } from "../question.ts";
import { type DeniedAuthorization, enoughAsked, sessionDirectoryOf } from "./refusals.ts";
import { ofRepository } from "./project-of.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";
import { LimitedMap } from "../../base/limited-map.ts";

export interface DecisionsOptions {
  readonly store: ApprovalStore;
  /** The path of the project that contains a directory. Without git it is `without`, else the directory. */
  readonly projectOf: (directory: string, worktrees: Policy["worktrees"], without?: string) => string;
  /** Identifies the repository at the path of a project. */
  readonly repositoryAt: (project: string) => string | undefined;
  /** The user's name on this machine. */
  readonly who: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: Log;
}

/** Maximum number of answers in one turn that are not a yes. */
const maxRefusals = 3;

/** The user's decisions: in the files of each scope, and for the sessions of this process. */
export class Decisions {
  readonly sessions = new DecisionsByOwner();
  readonly #options: DecisionsOptions;
  readonly #listeners = new Set<() => void>();

  constructor(options: DecisionsOptions) {
    this.#options = options;
  }

  /** The stored approvals that count for a session in a directory. */
  async stored(directory: string | undefined, policy: Policy): Promise<readonly Approvals[]> {
    const { projectOf } = this.#options;
    const project = directory === undefined ? undefined : projectOf(directory, policy.worktrees);
    return await Promise.all([this.read("everywhere"), ...(project === undefined ? [] : [this.read({ project })])]);
  }

  /** The stored approvals of a scope that count now. */
  async read(scope: ApprovalScope): Promise<Approvals> {
    return this.#counting(scope, await this.#options.store.read(scope));
  }

  #counting(scope: ApprovalScope, approvals: Approvals): Approvals {
    return scope === "everywhere" ? approvals : ofRepository(approvals, this.#options.repositoryAt(scope.project));
  }

  /** The blocked skills. A block of a project's skill is stored for that project, which may have begun at any directory above the skill. */
  async blockedOf<Skill extends UnhashedSkill>(
    skills: readonly Skill[],
    stored: readonly Approvals[],
    policy: Policy,
  ): Promise<ReadonlySet<Skill>> {
    const blocked = new Set<Skill>();
    const above = memoized((directory: string) =>
      Promise.all(this.#locationsAbove(directory, policy).map((project) => this.read({ project }))),
    );
    for (const skill of skills) {
      const isIn = (approvals: Approvals): boolean => approvals.blocks.some((block) => blocks(block, skill));
      const locations = blockLocations(skill);
      if (stored.some(isIn) || (await Promise.all(locations.map(above))).flat().some(isIn)) blocked.add(skill);
    }
    return blocked;
  }

  /** The scopes that can contain a block of this skill. */
  scopesOfBlocks(skill: UnhashedSkill, directory: string | undefined, policy: Policy): readonly ApprovalScope[] {
    const above = blockLocations(skill).flatMap((location) => this.#locationsAbove(location, policy));
    const own = directory === undefined ? [] : [this.#options.projectOf(directory, policy.worktrees)];
    return ["everywhere", ...[...new Set([...own, ...above])].map((project) => ({ project }))];
  }

  /** The project of a directory of skills, and every directory above the skills. */
  #locationsAbove(directory: string, { worktrees }: Pick<Policy, "worktrees">): readonly string[] {
    const start = sessionDirectoryOf(directory);
    return [this.#options.projectOf(start, worktrees), ...upwards(start)];
  }

  scopeOf(reach: "project" | "everywhere", directory: string | undefined, policy: Policy): ApprovalScope {
    if (reach === "everywhere" || directory === undefined) return "everywhere";
    return { project: this.#options.projectOf(directory, policy.worktrees) };
  }

  /** The signature of a decision made now: the user's name, the time and the transport. */
  signature({ transport }: Pick<TrustCaller, "transport">): Pick<Grant, "who" | "when" | "via"> {
    const { who, now } = this.#options;
    return { who, when: new Date(now()).toISOString(), via: transport };
  }

  /** Stores a change. `notify` is called before it takes effect. Throws what `ApprovalStore.change` throws. */
  async store(scope: ApprovalScope, change: (before: Approvals) => Approvals, notify?: () => void): Promise<void> {
    await this.#options.store.change(scope, (stored) => {
      notify?.();
      const before = this.#counting(scope, stored);
      const after = change(before);
      return after === before ? stored : after;
    });
    this.notifyChange();
  }

  /** Stores a change, and returns whether that worked. A change that cannot be stored counts for the session only. */
  async change(scope: ApprovalScope, change: (before: Approvals) => Approvals, notify?: () => void): Promise<boolean> {
    try {
      await this.store(scope, change, notify);
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#options.log("warning", `An answer was not stored, and counts for this session only: ${why}`);
      return false;
    }
  }

  /** How many more questions the user may refuse in this turn. */
  left(owner: string): number {
    return maxRefusals - (this.sessions.get(owner)?.refusals ?? 0);
  }

  /** The refusal of all further questions of this turn; undefined while the user may refuse more. */
  enough(owner: string): DeniedAuthorization | undefined {
    return this.left(owner) > 0 ? undefined : enoughAsked;
  }

  /** Stores a block permanently, and any other refusal in `OwnerDecisions.refused`. `key`: see `questionKey`. */
  async refuse(
    key: string,
    skill: UnhashedSkill,
    caller: TrustCaller,
    reply: Reply,
    { policy, reach, notify }: { readonly policy: Policy; readonly reach?: Reach | undefined; readonly notify?: (() => void) | undefined }, // prettier-ignore
  ): Promise<void> {
    if (reply.answer === undefined && reply.missing === "nobody") return;
    const session = this.sessions.of(caller.owner);
    const { refused } = session;
    // A block that the user sets unasked is no answer to a question.
    if (caller.ask !== undefined && ++session.refusals === maxRefusals) this.#options.log("warning", enoughAsked.why);
    if (reply.answer !== "block") {
      refused.set(key, reply);
      return;
    }
    const { name } = skill;
    const block = { skill: name, from: kindOf(skill), ...this.signature(caller) } as const;
    // The project of the skill, which may be in a further directory of the session.
    const isOfProject = block.from === "project";
    const isHere = (reach ?? (isOfProject ? "project" : "everywhere")) !== "everywhere";
    const directory = isOfProject ? sessionDirectoryOf(skill.source) : caller.directory;
    const scope = this.scopeOf(isHere ? "project" : "everywhere", directory, policy);
    const change = ({ blocks: before, ...approvals }: Approvals): Approvals => ({
      ...approvals,
      blocks: [...before.filter((other) => other.skill !== name || other.from !== block.from), block],
    });
    if (!(await this.change(scope, change, notify))) refused.set(key, reply);
  }

  /** Removes a grant, or the blocks of a skill, from all scopes and from the session: see `Trust.takeBack`. */
  async takeBack(
    what: { readonly grant: string } | { readonly blocksOf: UnhashedSkill },
    { directory, owner }: TrustScope,
    { policy, notify }: { readonly policy: Policy; readonly notify?: (() => void) | undefined },
  ): Promise<boolean> {
    const stays = {
      grant: ({ id }: Pick<Grant, "id">): boolean => !("grant" in what && id === what.grant),
      block: (block: Block): boolean => !("blocksOf" in what && blocks(block, what.blocksOf)),
    };
    const locations = "blocksOf" in what ? [what.blocksOf.source, path.dirname(what.blocksOf.directory)] : [];
    const above = locations.flatMap((one) => this.#locationsAbove(one, policy)).map((project) => ({ project }));
    const scopes = ["everywhere" as const, this.scopeOf("project", directory, policy), ...above];
    const notifyOnce = onlyOnce(notify);
    let isFound = false;
    for (const scope of new Map(scopes.map((one) => [JSON.stringify(one), one])).values()) {
      const { grants, blocks: blocked } = await this.#options.store.read(scope);
      if (grants.every(stays.grant) && blocked.every(stays.block)) continue;
      isFound = true;
      await this.#options.store.change(scope, (before) => {
        notifyOnce();
        return { ...before, grants: before.grants.filter(stays.grant), blocks: before.blocks.filter(stays.block) };
      });
    }
    const session = this.sessions.get(owner);
    const index = "grant" in what ? (session?.grants.findIndex(({ id }) => id === what.grant) ?? -1) : -1;
    if (index >= 0) session?.grants.splice(index, 1);
    if ("blocksOf" in what) session?.refused.clear();
    this.notifyChange();
    if (index >= 0) notifyOnce();
    return isFound || index >= 0;
  }

  notifyChange(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls `listener` when an answer may have changed the standing of skills. It must not throw. Returns a function that ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function blockLocations(skill: UnhashedSkill): readonly string[] {
  return kindOf(skill) === "project" ? [skill.source, path.dirname(skill.directory)] : [];
}

/** Returns a function that passes on only its first call. */
export function onlyOnce<Arguments extends readonly unknown[]>(
  notify: ((...given: Arguments) => void) | undefined,
): (...given: Arguments) => void {
  let left = notify;
  return (...given) => {
    const first = left;
    left = undefined;
    first?.(...given);
  };
}

function memoized<Result>(find: (key: string) => Result): (key: string) => Result {
  const known = new Map<string, Result>();
  return (key) => {
    const found = known.get(key) ?? find(key);
    known.set(key, found);
    return found;
  };
}

const maxSessions = 1_000;
const maxRefused = 1_000;

/** The decisions of one session. */
class OwnerDecisions {
  readonly grants: Grant[] = [];
  /** Projects whose skills may be read. */
  readonly projects = new Set<string>();
  /** Directories of skills that the user invoked. */
  readonly consents = new Set<string>();
  /** Refusals by `questionKey`: a "not now" counts for the whole session, a missing answer until the next prompt. */
  readonly refused = new LimitedMap<string, Reply>(maxRefused);
  /** How many answers were not a yes since the last prompt. */
  refusals = 0;
  /** Projects that may be read until the next prompt. */
  readonly readable = new Set<string>();
}

/** The decisions of this process's sessions, by owner. At most 1,000 sessions are stored: the oldest is forgotten, and asked again. */
class DecisionsByOwner extends LimitedMap<string, OwnerDecisions> {
  constructor() {
    super(maxSessions);
  }

  of(owner: string): OwnerDecisions {
    const session = this.get(owner) ?? new OwnerDecisions();
    this.set(owner, session);
    return session;
  }

  /** Begins a turn: the user wrote a prompt. */
  newTurn(owner: string): void {
    const session = this.get(owner);
    if (session === undefined) return;
    session.refusals = 0;
    session.readable.clear();
    for (const [key, { answer }] of session.refused) if (answer === undefined) session.refused.delete(key);
  }

  /** Records that the user invoked the skill in a directory: it may be read, and asked about again. */
  consent(owner: string, directory: string): void {
    const { consents, refused } = this.of(owner);
    consents.add(directory);
    for (const key of refused.keys()) if ((JSON.parse(key) as unknown[])[1] === directory) refused.delete(key);
  }
}

/** The key of a question. A refusal counts for the key, whatever the bytes become. `directory`: of a skill, or a project. */
export function questionKey(about: string, directory: string, calledBy?: string): string {
  return JSON.stringify([about, directory, calledBy]);
}
