import type { Asker, Authorization, ReadSkill } from "../trust.ts";
import { noCapabilities } from "../../skills/permissions.ts";
import type { ConfiguredGrants } from "./configured-grants.ts";
import { type Decisions, type DecisionsOptions, questionKey } from "./decisions.ts";
import { least, reachIndex } from "./grants.ts";
import type { Policy } from "./policy.ts";
import { type Question, type Reply, askAboutProject } from "../question.ts";
import { type OutcomeListener, type Questions, onlyOnce } from "./questions.ts";
import { blocked, onlyPolicy, sessionDirectoryOf, untrustedInstructions, whyRefused } from "./refusals.ts";
import type { Approvals } from "./approvals/scope-approvals.ts";

export interface ProjectReadingOptions {
  readonly policyFor: (directory: string | undefined) => Policy;
  readonly projectOf: DecisionsOptions["projectOf"];
  readonly repositoryAt: (project: string) => string | undefined;
  readonly configured: ConfiguredGrants;
  readonly decisions: Decisions;
  readonly questions: Questions;
}

/** Which projects a person lets models read the skills of: their instructions are what an attacker would write. */
export class ProjectReading {
  readonly #options: ProjectReadingOptions;

  constructor(options: ProjectReadingOptions) {
    this.#options = options;
  }

  /** Whether a model may read a skill; asks a person where nobody has decided. Rejects only with the reason of `signal`. */
  async mayRead(skill: ReadSkill, asker: Asker, signal: AbortSignal): Promise<Authorization> {
    const request = this.#requestFor(skill, asker);
    return await this.#options.questions.settle({
      key: request.key,
      asker,
      signal,
      event: { about: "read", subject: skill },
      decide: async () => (await this.#decide(request, asker)) ?? this.#options.decisions.enough(asker.owner),
      ask: () => Promise.resolve(questionOf(request, asker)),
      keep: async (reply, notify) => {
        const notifyOnce = onlyOnce(notify);
        const outcome = await this.#keep(request, asker, reply, notifyOnce);
        notifyOnce(outcome);
        return outcome;
      },
    });
  }

  /** Whether that is decided, and how; nobody is asked. */
  async decideReading(skill: ReadSkill, asker: Asker): Promise<Authorization | undefined> {
    return await this.#decide(this.#requestFor(skill, asker), asker);
  }

  #requestFor(skill: ReadSkill, { directory }: Asker): ReadRequest {
    const { policyFor, projectOf, repositoryAt } = this.#options;
    const policy = policyFor(directory);
    // Of the skill: another directory of the session may be another project.
    // A repository inside the project, or one that a link leads to, is not what a person trusted.
    const around = projectOf(sessionDirectoryOf(skill.source), policy.worktrees);
    const project = projectOf(skill.directory, policy.worktrees, around);
    return { skill, project, policy, key: JSON.stringify(["read", project, repositoryAt(project) ?? null]) };
  }

  /** A person lets models read the skills that came with the project of a directory. */
  async trust(directory: string, asker: Asker): Promise<Authorization> {
    const { policyFor, projectOf, decisions } = this.#options;
    const policy = policyFor(directory);
    if (reachIndex(policy.approvals) < reachIndex("project")) return onlyPolicy(`the skills of ${directory}`);
    const scope = { project: projectOf(directory, policy.worktrees) };
    await decisions.store(scope, (approvals) => ({ ...approvals, trusted: decisions.signature(asker) }));
    return { allowed: true, by: "project" };
  }

  async #decide({ skill, project, policy, key }: ReadRequest, asker: Asker): Promise<Authorization | undefined> {
    const { configured, decisions } = this.#options;
    const refusal = policy.denies(skill, noCapabilities);
    if (refusal !== undefined) return { allowed: false, ...refusal };
    const stored = await decisions.stored(asker.directory, policy);
    if (await decisions.isBlocked(skill, stored, policy)) return blocked(skill);
    if (skill.isOwn) return { allowed: true, by: "own" };
    // Only a person names sources, and thereby whose instructions models read.
    if (skill.origin !== undefined) return { allowed: true, by: "source" };
    const session = decisions.sessions.get(asker.owner);
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

  async #keep(request: ReadRequest, asker: Asker, reply: Reply, notify: OutcomeListener): Promise<Authorization> {
    const { decisions } = this.#options;
    const { skill, project, policy, key } = request;
    const { answer } = reply;
    if (answer !== "once" && answer !== "trust") {
      const refusal = answer === "block" ? blocked(skill) : untrustedInstructions(skill, project, whyRefused(reply));
      await decisions.refuse(questionKey("read", project), skill, asker, reply, {
        policy,
        notify: () => notify(refusal),
      });
      return refusal;
    }
    // Another window may have blocked it meanwhile.
    const decided = await this.#decide(request, asker);
    if (decided?.allowed === false) return decided;
    const session = decisions.sessions.of(asker.owner);
    const trusted = decisions.signature(asker);
    const allowed = { allowed: true, by: answer === "once" ? "once" : "project" } as const;
    const trust = (approvals: Approvals): Approvals => ({ ...approvals, trusted });
    if (answer === "once") session.readable.add(key);
    else if (least("project", policy.approvals) === "session") session.projects.add(key);
    else if (!(await decisions.change({ project }, trust, () => notify(allowed)))) session.projects.add(key);
    return allowed;
  }
}

interface ReadRequest {
  readonly skill: ReadSkill;
  /** The project that the skill came with. */
  readonly project: string;
  readonly policy: Policy;
  /** Of what is asked: the repository that is there now. */
  readonly key: string;
}

function questionOf({ skill, project, policy }: ReadRequest, { ask }: Asker): Question | undefined {
  if (!policy.prompts || ask === undefined) return undefined;
  return askAboutProject(project, skill, least("project", policy.approvals));
}
