import { noCapabilities } from "../../skills/permissions.ts";
import { askAboutProject } from "../question.ts";
import type { TrustCaller, Authorization } from "../trust.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";
import { questionKey } from "./decisions.ts";
import { type UnhashedSkill, least, reachIndex } from "./grants.ts";
import type { ApprovalRequest } from "./questions.ts";
import { blocked, onlyPolicy, sessionDirectoryOf, untrustedInstructions, whyRefused } from "./refusals.ts";
import type { TrustContext } from "./run-approval.ts";

/** The request for a model to read a skill. A project's skills need it, because an attacker could have written their instructions. */
export function approvalToRead(skill: UnhashedSkill, caller: TrustCaller, context: TrustContext): ApprovalRequest {
  const { policyFor, projectOf, repositoryAt, configured, decisions } = context;
  const policy = policyFor(caller.directory);
  // The skill's project counts: another directory of the session may be another project.
  // A repository inside the project, or behind a link, is not what the user trusted.
  const around = projectOf(sessionDirectoryOf(skill.source), policy.worktrees);
  /** The project that the skill came with. */
  const project = projectOf(skill.directory, policy.worktrees, around);
  /** Includes the repository that is at the project's path now. */
  const key = JSON.stringify(["read", project, repositoryAt(project) ?? null]);

  async function decide(): Promise<Authorization | undefined> {
    const refusal = policy.denies(skill, noCapabilities);
    if (refusal !== undefined) return { allowed: false, ...refusal };
    const stored = await decisions.stored(caller.directory, policy);
    if ((await decisions.blockedOf([skill], stored, policy)).size > 0) return blocked(skill);
    if (skill.isOwn) return { allowed: true, by: "own" };
    // Only the user names sources, and thereby decides whose instructions models read.
    if (skill.origin !== undefined) return { allowed: true, by: "source" };
    const session = decisions.sessions.get(caller.owner);
    if (session?.consents.has(skill.directory) === true) return { allowed: true, by: "consent" };
    if (policy.reads === "allow") return { allowed: true, by: "policy reads" };
    if (configured.trusts(project)) return { allowed: true, by: `--grant ${project}` };
    if (session?.projects.has(key) === true || session?.readable.has(key) === true)
      return { allowed: true, by: "session" };
    if (policy.approvals === "none") return onlyPolicy(`the skill ${skill.name}`);
    const isLasting = reachIndex(policy.approvals) >= reachIndex("project");
    if (isLasting && (await decisions.read({ project })).trusted !== undefined) return { allowed: true, by: "project" };
    const refused = session?.refused.get(questionKey("read", project));
    return refused && untrustedInstructions(skill, project, whyRefused(refused));
  }

  return {
    about: "read",
    skill,
    caller,
    key,
    decide,
    question() {
      const isAsked = policy.prompts && caller.ask !== undefined;
      return Promise.resolve(isAsked ? askAboutProject(project, skill, least("project", policy.approvals)) : undefined);
    },
    async answer(reply, notify) {
      const { answer } = reply;
      if (answer !== "once" && answer !== "trust") {
        const refusal =
          answer === "block" ? blocked(skill, reply) : untrustedInstructions(skill, project, whyRefused(reply));
        const terms = { policy, notify: () => notify(refusal) };
        await decisions.refuse(questionKey("read", project), skill, caller, reply, terms);
        return refusal;
      }
      // Another window may have blocked it meanwhile.
      const decided = await decide();
      if (decided?.allowed === false) return decided;
      const session = decisions.sessions.of(caller.owner);
      const trusted = decisions.signature(caller);
      const allowed = { allowed: true, by: answer === "once" ? "once" : "project" } as const;
      const trust = (approvals: Approvals): Approvals => ({ ...approvals, trusted });
      if (answer === "once") session.readable.add(key);
      else if (least("project", policy.approvals) === "session") session.projects.add(key);
      else if (!(await decisions.change({ project }, trust, () => notify(allowed)))) session.projects.add(key);
      return allowed;
    },
  };
}
