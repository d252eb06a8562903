import { randomBytes } from "node:crypto";
import { changesOf } from "../../skills/files.ts";
import { noSignature } from "../../skills/signature.ts";
import { covers, isNothing, onlyCapabilities } from "../../skills/permissions.ts";
import { type Reply, askAboutSkill } from "../question.ts";
import type { TrustCaller, Authorization, FullTrustRequest, GrantTerms, TrustOptions, TrustRequest } from "../trust.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";
import { type Decisions, questionKey } from "./decisions.ts";
import { type Grant, allows, isOfOrigin, isScopeWithinReach, kindOf, least, reachIndex, reachOf } from "./grants.ts";
import type { ApprovalRequest, OutcomeListener } from "./questions.ts";
import { blocked, notGranted, onlyPolicy, refusalOf } from "./refusals.ts";

const maxSessionGrants = 1_000;

/** The options and stored decisions on which every decision is based. */
export interface TrustContext extends TrustOptions {
  readonly decisions: Decisions;
}

interface RunApproval extends ApprovalRequest {
  answer(reply: Reply, notify: OutcomeListener, terms?: Omit<GrantTerms, "notify">): Promise<Authorization>;
}

/** The request for a run to do what its skill wants. */
export function approvalToRun(request: FullTrustRequest, caller: TrustCaller, context: TrustContext): RunApproval {
  const { decisions, policyFor, store } = context;
  const { skill: judged, wants, calledBy } = request;
  const decide = (): Promise<Authorization | undefined> => decideRun(request, caller, context);
  return {
    about: "run",
    skill: judged,
    caller,
    key: JSON.stringify([judged.name, judged.digest, calledBy?.name, calledBy?.digest, wants]),
    decide,
    async question() {
      const policy = policyFor(caller.directory);
      if (!policy.prompts || caller.ask === undefined || decisions.enough(caller.owner)) return undefined;
      const stored = await decisions.stored(caller.directory, policy);
      const known = stored
        .flatMap(({ grants }) => grants)
        .filter(({ skill, digest, calledBy: by }) => {
          return skill === judged.name && digest !== judged.digest && by?.skill === calledBy?.name;
        })
        .sort((one, other) => (one.when < other.when ? 1 : -1));
      // A skill of this name with another origin is no earlier version of this one.
      const before = known.find((grant) => isOfOrigin(grant, judged));
      const another = known.find((grant) => !isOfOrigin(grant, judged));
      const copy = before && (await store.readCopy(before.digest));
      const changed = copy === undefined ? [] : changesOf(copy, await request.files());
      const reach = reachOf(request, caller, policy);
      const signature = await request.signature?.();
      const lookAlike = request.lookAlike?.();
      return askAboutSkill({ ...request, lookAlike, signature, before, another, changed, reach });
    },
    async answer(reply, notify, { reach: wanted, expires } = {}) {
      const { answer } = reply;
      if (answer !== "once" && answer !== "trust") {
        const refusal = refusalOf(request, reply);
        const terms = { policy: policyFor(caller.directory), reach: wanted, notify: () => notify(refusal) };
        await decisions.refuse(approvalKey(request), judged, caller, reply, terms);
        return refusal;
      }
      // Another window may have blocked the skill meanwhile, and its files may have changed.
      const decided = await decide();
      if (decided?.allowed === false) return decided;
      const files = await request.files();
      const policy = policyFor(caller.directory);
      const reach = wanted === undefined ? reachOf(request, caller, policy) : least(wanted, policy.approvals);
      if (answer === "once" || reach === "once") return { allowed: true, by: "once" };
      const grant: Grant = {
        id: `grant_${randomBytes(8).toString("hex")}`,
        skill: judged.name,
        version: judged.version,
        digest: judged.digest,
        capabilities: onlyCapabilities(wants),
        from: kindOf(judged),
        ...(judged.origin !== undefined && { source: judged.origin.source }),
        ...(calledBy !== undefined && { calledBy: { skill: calledBy.name, digest: calledBy.digest } }),
        ...decisions.signature(caller),
        ...(expires !== undefined && { expires }),
      };
      if (reach !== "session") {
        const scope = decisions.scopeOf(reach, caller.directory, policy);
        const allowed = { allowed: true, by: grant.id } as const;
        const change = ({ grants, ...approvals }: Approvals): Approvals => ({
          ...approvals,
          grants: [...grants.filter((other) => !isReplaced(other, grant)), grant],
        });
        if (await decisions.change(scope, change, () => notify(allowed))) {
          await store.keepCopy(judged.digest, files);
          return allowed;
        }
      }
      const { grants } = decisions.sessions.of(caller.owner);
      if (grants.length < maxSessionGrants) grants.push(grant);
      decisions.notifyChange();
      return { allowed: true, by: "session" };
    },
  };
}

/** Decides about a run without asking; undefined if the user has to be asked. */
export async function decideRun(
  request: TrustRequest,
  caller: TrustCaller,
  { policyFor, decisions, configured: local, now: clock }: TrustContext,
): Promise<Authorization | undefined> {
  const { skill, needs, wants, calledBy } = request;
  const policy = policyFor(caller.directory);
  const refusal = policy.denies(skill, needs);
  if (refusal !== undefined) return { allowed: false, ...refusal };
  const { signature = noSignature } = request;
  const unsigned = await policy.deniesSigner?.(skill, signature);
  if (unsigned !== undefined) return { allowed: false, ...unsigned };
  const stored = await decisions.stored(caller.directory, policy);
  if ((await decisions.blockedOf([skill], stored, policy)).size > 0) return blocked(skill);
  // Code from the network runs only after approval, even if it needs nothing beyond the sandbox.
  const isFree = policy.runs === "sandbox" && skill.origin === undefined;
  if (isNothing(needs) && isFree) return { allowed: true, by: "sandbox" };
  // Grants of the configuration and the policy do not count for calls by a skill that is not the user's own.
  if (calledBy === undefined || calledBy.isOwn) {
    const pregranted = policy.grants(skill);
    if (pregranted !== undefined && covers(pregranted.capabilities, needs))
      return { allowed: true, by: `policy ${pregranted.file} ${pregranted.rule}` };
    const isLasting = reachIndex(policy.approvals) >= reachIndex("session");
    const grants = caller.grants ?? local;
    const configured = isLasting ? grants.capabilitiesOf(skill, wants) : undefined;
    if (configured !== undefined && covers(configured.capabilities, needs))
      return { allowed: true, by: `${caller.grants === undefined ? "--grant" : "granted"} ${configured.texts}` };
  }
  const access = { skill, wants: needs, calledBy };
  const now = clock();
  const isAllowed = (grant: Grant): boolean => allows(grant, access, now);
  if (policy.approvals === "none") return onlyPolicy(`the skill ${skill.name}`);
  // Approvals of this machine's user do not count for remote callers.
  if (caller.grants !== undefined) return notGranted(skill, needs);
  const session = decisions.sessions.get(caller.owner);
  if (session?.grants.some(isAllowed) === true) return { allowed: true, by: "session" };
  // A policy that allows approvals for a call or a session only does not accept stored ones either.
  if (reachIndex(policy.approvals) > reachIndex("session")) {
    const grant = stored
      .flatMap(({ grants, project }) => (isScopeWithinReach(policy, project) ? grants : []))
      .find(isAllowed);
    if (grant !== undefined) return { allowed: true, by: grant.id };
  }
  const refused = session?.refused.get(approvalKey(request));
  return refused && refusalOf(request, refused);
}

function approvalKey({ skill, calledBy }: TrustRequest): string {
  return questionKey("run", skill.directory, calledBy?.name);
}

/** Whether an older grant of the same version allows no more than the new one. */
function isReplaced(before: Grant, after: Grant): boolean {
  return allows(
    after,
    {
      skill: { name: before.skill, digest: before.digest },
      wants: before.capabilities,
      calledBy: before.calledBy && { name: before.calledBy.skill, digest: before.calledBy.digest },
    },
    0,
  );
}
