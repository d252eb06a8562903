import { isSkillsError, SkillsError } from "../../base/errors.ts";
import type { Skill } from "../../skills/skill.ts";
import type { Authorization, PolicyRefusal, Trust, TrustCaller } from "../trust.ts";
import type { Blocker, CallingSkill, FullTrustRequest } from "../trust.ts";
import { type Capabilities, isNothing, permissionsOf, noCapabilities } from "../../skills/permissions.ts";
import { checkDeclared, skillTooLarge } from "./plan/plan-run.ts";
import { presentDependenciesOf, programOf } from "./plan/plan-skill-run.ts";
import type { Requester, RunCaller } from "./run-caller.ts";
import type { RunSpec, SkillVersion } from "./run-spec.ts";
import { trustRequest } from "./authorize/trust-request.ts";

export {
  type Standings,
  createGrantPins,
  findStandings,
  toJudgedSkill,
  offeredToJudged,
  trustRequest,
} from "./authorize/trust-request.ts";

/** Reduces a caller to the facts that trust knows. */
export function toTrustCaller(who: Requester): TrustCaller {
  const { owner, callerName, project, transport, sessionId, subagent, ask, grants } = who;
  return { owner, callerName, directory: project, transport, sessionId, subagent, ask, grants };
}

/** The keys of requests that were allowed only for one run and for the runs that it calls, see `callKey`. */
export type AllowedOnce = Set<string>;

export interface AuthorizeOptions {
  readonly trust: Pick<Trust, "authorize" | "decide" | "policyFor" | "questionFor">;
  readonly signal: AbortSignal;
  /** The skills or models whose code calls this skill, see `callersOf`. Default: no code, but the user or a model. */
  readonly calledBy?: readonly Caller[];
  readonly once: AllowedOnce;
  /** The keys of requests that the process which submitted the run refused, see `callKey`. */
  readonly refused?: ReadonlySet<string> | undefined;
  /** Throws if this machine cannot execute the run, whatever the user answers. */
  readonly checkMachine?: () => Promise<unknown>;
  /** Throws SANDBOX_UNAVAILABLE if the sandbox of this machine does not support that. */
  readonly checkSupport?: (program: RunSpec["program"], needs: Capabilities) => Promise<void>;
}

/**
 * Authorizes a run, or throws PERMISSION_DENIED; returns the grant or rule that allows its skill. The user is also asked about the other
 * skills that its code can call, because no time limit runs yet. A refused call becomes an error in the code that makes it.
 */
export async function authorize(spec: RunSpec, caller: RunCaller, options: AuthorizeOptions): Promise<string> {
  const { trust, signal, once } = options;
  let { checkMachine } = options;
  const trustCaller = toTrustCaller(caller);
  const { code: refusal } = trust.policyFor(trustCaller.directory);
  if (refusal !== undefined) throw denied(refusal);
  let by: string | undefined;
  for await (const { request, isCall, program } of requestsOf(spec, caller, options)) {
    const key = callKey(request);
    if (once.has(key)) continue;
    if (!isCall && options.refused?.has(key) === true) throw denied(refusedThere(request.skill.name));
    if (isCall && trustCaller.ask === undefined) continue;
    const isUndecided = (await trust.decide(request, trustCaller)) === undefined;
    const isAsked = trustCaller.ask !== undefined && isUndecided;
    if (isCall && !isUndecided) continue;
    if (isUndecided && !(await isSupported(program, request, isCall, options))) continue;
    if (isAsked && checkMachine !== undefined && (await trust.questionFor(request, trustCaller)) !== undefined) {
      await checkMachine();
      checkMachine = undefined;
    }
    const authorization = await trust.authorize(request, trustCaller, signal);
    if (!authorization.allowed && !isCall) throw denied(authorization);
    if (authorization.allowed && authorization.by === "once") once.add(key);
    if (authorization.allowed && !isCall) by ??= authorization.by;
  }
  return by ?? "sandbox";
}

/** The facts behind an authorization, from which an executor sees later whether it is still in force. */
export interface AuthorizationFacts {
  /** The ids of the approvals that allow the run and its mounted skills. */
  readonly grants: readonly string[];
  /** The blocks that would refuse the run; none of them exists yet. */
  readonly blockers: readonly Blocker[];
  /** The keys of calls that something other than a stored approval allows. */
  readonly calls: readonly string[];
  /** The keys of calls that nothing allows here; an executor refuses them, whatever it would decide itself. */
  readonly refused: readonly string[];
  /** Every skill whose bytes the run can need: the mounted ones, and those that code can call, directly or through others. */
  readonly skills: readonly { readonly skill: Skill; readonly digest: string }[];
}

const grantId = /^grant_[0-9a-f]{16}$/;

/** Collects what allows a run that `authorize` let pass, and the skills that it can need. Throws PERMISSION_DENIED if nothing does. */
export async function authorizationFacts(
  spec: RunSpec,
  caller: RunCaller,
  {
    trust,
    signal,
    once,
  }: Pick<AuthorizeOptions, "signal" | "once"> & { readonly trust: Pick<Trust, "decide" | "blockersOf"> },
): Promise<AuthorizationFacts> {
  const trustCaller = toTrustCaller(caller);
  const grants = new Set<string>();
  const calls = new Set<string>(once);
  const refused = new Set<string>();
  const blockers: Blocker[] = [];
  for await (const { request, isCall } of requestsOf(spec, caller, { signal })) {
    const key = callKey(request);
    const decided = await trust.decide(request, trustCaller);
    const isStored = decided?.allowed === true && grantId.test(decided.by);
    if (isCall) {
      if (decided?.allowed === true && !isStored) calls.add(key);
      if (decided?.allowed !== true && !once.has(key)) refused.add(key);
      continue;
    }
    if (decided?.allowed !== true && !once.has(key)) throw denied(decided ?? takenBack(request.skill.name));
    if (isStored) grants.add(decided.by);
    blockers.push(...trust.blockersOf(request.skill, trustCaller));
  }
  return {
    grants: [...grants],
    blockers,
    calls: [...calls],
    refused: [...refused],
    skills: await skillsOf(spec, caller, signal),
  };
}

function takenBack(name: string): PolicyRefusal {
  return { why: `What allowed ${name} was taken back.`, hint: "The user can approve it again." };
}

function refusedThere(name: string): PolicyRefusal {
  return { why: `Calls of ${name} were refused where the run was submitted.`, hint: "The user can approve it." };
}

async function skillsOf(spec: RunSpec, caller: RunCaller, signal: AbortSignal): Promise<AuthorizationFacts["skills"]> {
  const digests = new Map<Skill, string>();
  for (const { slug, version, digest } of [...spec.mounts, ...spec.brokered])
    digests.set(caller.skills.find(slug, version).skill, digest);
  // An iterated map also yields the keys that are added meanwhile.
  for (const skill of digests.keys())
    for (const called of presentDependenciesOf(skill, caller.skills))
      if (!digests.has(called)) digests.set(called, await hash(called, caller, signal));
  return [...digests].map(([skill, digest]) => ({ skill, digest }));
}

function callKey({ skill, calledBy }: Pick<FullTrustRequest, "skill" | "calledBy">): string {
  return JSON.stringify([skill.name, skill.digest, calledBy?.name, calledBy?.digest]);
}

/** Whether a request can run here, so that the user is not asked in vain. Throws if the run cannot; a call fails when it is made. */
async function isSupported(
  program: RunSpec["program"],
  { needs }: FullTrustRequest,
  isCall: boolean,
  { checkSupport }: AuthorizeOptions,
): Promise<boolean> {
  try {
    await checkSupport?.(program, needs);
    return true;
  } catch (error) {
    if (!isCall || !isSkillsError(error) || error.code !== "SANDBOX_UNAVAILABLE") throw error;
    return false;
  }
}

/** The decision of `authorize`, or the question that it would ask. */
export type ExpectedAuthorization = Authorization | { readonly allowed: "ask"; readonly question: string };

/** Predicts whether `authorize` would let a run pass and what allows its first skill; calls of others are decided when they are made. */
export async function expectAuthorization(
  spec: RunSpec,
  caller: RunCaller,
  options: AuthorizeOptions,
): Promise<ExpectedAuthorization> {
  const { trust } = options;
  const trustCaller = toTrustCaller(caller);
  const { code: refusal } = trust.policyFor(trustCaller.directory);
  if (refusal !== undefined) return { allowed: false, ...refusal };
  let by: string | undefined;
  for await (const { request, isCall } of requestsOf(spec, caller, options)) {
    if (isCall) break;
    const decided = await trust.decide(request, trustCaller);
    if (decided?.allowed === true) {
      by ??= decided.by;
      continue;
    }
    if (decided !== undefined) return decided;
    const question = await trust.questionFor(request, trustCaller);
    if (question !== undefined) return { allowed: "ask", question: question.title };
    return await trust.authorize(request, { ...trustCaller, ask: undefined }, options.signal);
  }
  return { allowed: true, by: by ?? "sandbox" };
}

/** A skill whose code calls another one; undefined for code that the model wrote, and for the user or the model itself. */
type Caller = CallingSkill | undefined;

/**
 * Lists the skills whose code makes the calls of a run, or undefined for the model's code. Mounted skills that are not the user's own are
 * among them, because their code runs in the same process. A call must be allowed to all of them.
 */
export function callersOf({ skill: own, mounts }: RunSpec, caller: Pick<RunCaller, "skills">): readonly Caller[] {
  const toCaller = ({ name, slug, version, digest }: SkillVersion): CallingSkill => ({
    name,
    digest,
    isOwn: caller.skills.isOwn(caller.skills.find(slug, version).skill),
  });
  const foreign = mounts.filter(({ slug }) => slug !== own?.slug).map(toCaller);
  return [own && toCaller(own), ...foreign.filter(({ isOwn }) => !isOwn)];
}

/** Yields the requests of a run, each once: for its skill, for the skills that it mounts, then for the calls that its code can make. */
async function* requestsOf(
  spec: RunSpec,
  caller: RunCaller,
  { signal, calledBy: outer = [undefined] }: Pick<AuthorizeOptions, "signal" | "calledBy">,
) {
  const { program } = spec;
  const digests = new Map<Skill, Promise<string>>();
  const find = ({ slug, version }: { readonly slug: string; readonly version: string }): Skill =>
    caller.skills.find(slug, version).skill;
  const digestOf = (skill: Skill): Promise<string> => {
    const known = digests.get(skill) ?? hash(skill, caller, signal);
    digests.set(skill, known);
    return known;
  };
  const own = spec.skill && find(spec.skill);
  for (const mount of spec.mounts) digests.set(find(mount), Promise.resolve(mount.digest));
  if (own !== undefined && spec.skill !== undefined) {
    // The run gets what its spec says, whatever the skill declares now.
    const needs = { ...noCapabilities, ...spec.needs };
    const version = { skill: own, digest: spec.skill.digest };
    for (const calledBy of outer)
      yield { request: trustRequest(version, caller, { needs, calledBy, signal }), isCall: false, program };
  }
  const callers = callersOf(spec, caller);
  // The code of mounted skills runs without a call.
  for (const mount of spec.mounts) {
    const skill = find(mount);
    if (skill === own) continue;
    const about = { needs: noCapabilities, calledBy: callers[0], signal } as const;
    yield { request: trustRequest({ skill, digest: mount.digest }, caller, about), isCall: false, program };
  }
  const calls = spec.brokered.map((brokered) => ({ by: () => Promise.resolve(callers), skill: find(brokered) }));
  const seen = new Set<Skill>();
  for (const { by, skill } of calls) {
    if (!seen.has(skill)) {
      seen.add(skill);
      const by = async (): Promise<readonly Caller[]> => [
        { name: skill.name, digest: await digestOf(skill), isOwn: caller.skills.isOwn(skill) },
      ];
      calls.push(...presentDependenciesOf(skill, caller.skills).map((called) => ({ by, skill: called })));
    }
    const needs = permissionsOf(skill);
    if (isNothing(needs) && caller.skills.remoteOf(skill) === undefined) continue;
    const digest = await digestOf(skill);
    for (const calledBy of await by())
      yield {
        request: trustRequest({ skill, digest }, caller, { needs, calledBy, signal }),
        isCall: true,
        program: programOf(skill, null),
      };
  }
}

async function hash(skill: Skill, caller: RunCaller, signal: AbortSignal): Promise<string> {
  const hashed = await caller.hashFiles(skill, signal);
  await checkDeclared(skill, hashed, caller.sourceOf(skill));
  if (hashed.digest === undefined) throw skillTooLarge(skill.name);
  return hashed.digest;
}

export function denied({ why, hint }: PolicyRefusal): SkillsError {
  return new SkillsError("PERMISSION_DENIED", why, { facts: { hint } });
}
