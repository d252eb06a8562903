import type { OnceLog } from "../../../base/log.ts";
import type { App } from "../../../runtime/app.ts";
import { type DeniedSkills, deniedSkills, ownerOf } from "../../../runtime/caller.ts";
import type { Settings } from "../../../runtime/options.ts";
import type { SkillEnvironments } from "../../../skills/environment.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../../skills/skill.ts";
import type { SessionSkills } from "../../../skills/skillset.ts";
import {
  mergeCommands,
  isCommandOfSkill,
  type MergedCommands,
  placeInAgentList,
  type Shown,
  type NativelyListedSkills,
  toCommand,
  toCommandList,
  toInvocable,
} from "../announce/command-list.ts";
import { EditorUpdates, type SendToEditor } from "../announce/editor-updates.ts";
import { type KnownFacts, nothingKnown, projectSkill } from "../../../wire/command-facts.ts";
import { encodeItems } from "../../messages/encode-message.ts";
import { type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import type { BeginRequest, ListAmendments } from "../../skill-service.ts";
import { readsItself } from "../../negotiation/agents.ts";
import { clientDeclaresSkills } from "../../negotiation.ts";
import type { SkillStates } from "./skill-states.ts";

/** Editors drop updates about a session right after its response. */
const responseTime = 50;
/** How long to wait for the command list of an agent that is known to send one, so that the editor gets one list, not two. */
const listingTime = 1_500;
/** How long the first list waits for facts about this machine and approvals; otherwise they need a second whole list. */
const factsTime = 1_000;

/** What the sessions of one connection share. */
export interface SessionContext {
  readonly settings: Pick<Settings, "home" | "clock">;
  readonly app: Pick<App, "policyFor">;
  readonly shown: NativelyListedSkills;
  readonly environments: Pick<SkillEnvironments, "of" | "prepare" | "isWorking" | "onKnown">;
  /** Why skills cannot be used in a session; `changed` is called when more is known. */
  readonly openStates: (owner: string, directory: string | undefined, changed: () => void) => SkillStates;
  readonly send: SendToEditor;
  readonly logOnce: OnceLog["logOnce"];
  /** Logs problems that were not logged before. */
  readonly logProblems: (problems: readonly Problem[]) => void;
  readonly failed: (error: unknown) => void;
}

/** Called with the skills of the latest list that the editor was sent. Must not throw. */
type SkillsSent = (skills: readonly OfferedSkill[]) => void;

/** One open session: which skills and commands its editor is to have, and when. */
export class Session {
  readonly #request: BeginRequest;
  readonly #skills: SessionSkills;
  readonly #context: SessionContext;
  readonly #skillsSent: SkillsSent;
  #sentSnapshot: Snapshot | undefined;
  readonly #stopListening: () => void;
  readonly #states: SkillStates;
  readonly #updates: EditorUpdates;
  #stopTimer: () => void;
  #agentCommands: readonly unknown[];
  #isOpen = true;
  /** The skills were read. */
  #isReady = false;
  #isAnswered = false;
  #isFirstPrompt = true;
  #isNoticeSent = false;
  #isListAwaited: boolean;
  readonly #wantsFacts: boolean;
  #areFactsAwaited: boolean;

  /** The response that opens it is on its way to the editor. */
  constructor(
    request: BeginRequest,
    skills: SessionSkills,
    context: SessionContext,
    skillsSent: SkillsSent = () => undefined,
  ) {
    const { negotiation, agentCommands } = request;
    const { shown, settings } = context;
    this.#request = request;
    this.#skills = skills;
    this.#context = context;
    this.#skillsSent = skillsSent;
    this.#agentCommands = agentCommands;
    this.#isListAwaited = agentCommands.length === 0 && shown.isListExpected(negotiation.facts);
    this.#areFactsAwaited = this.#wantsFacts = clientDeclaresSkills(negotiation) || request.forms.skills !== undefined;
    const update = (): void => this.#update();
    this.#updates = new EditorUpdates(request, { send: context.send, clock: settings.clock }, update);
    this.#stopTimer = settings.clock.after(responseTime, () => {
      this.#isAnswered = true;
      this.#update();
      if (!this.#isListAwaited) return;
      this.#stopTimer = settings.clock.after(listingTime - responseTime, () => {
        this.#isListAwaited = false;
        this.#update();
      });
    });
    const { sessionId } = request;
    const { directory } = skills;
    this.#states = context.openStates(ownerOf(sessionId, { agent: negotiation.agent, directory }), directory, update);
    const stopChanges = skills.catalog.onChange(() => {
      update();
      this.#states.inspect(this.catalog.snapshot.skills);
    });
    const stopKnown = context.environments.onKnown((isMissing) => {
      if (this.#areFactsAwaited || isMissing) update();
    });
    let stopWaiting = (): void => undefined;
    this.#stopListening = () => {
      stopChanges();
      stopKnown();
      stopWaiting();
      this.#states.close();
    };
    skills.catalog.ready.then(
      ({ skills: found }) => {
        this.#isReady = true;
        if (!this.#isOpen) return;
        context.environments.prepare(found);
        this.#states.inspect(found);
        stopWaiting = settings.clock.after(factsTime, () => {
          this.#areFactsAwaited = false;
          this.#update();
        });
        this.#update();
      },
      (error: unknown) => context.logOnce("warning", `Skills cannot be read: ${String(error)}`),
    );
  }

  get id(): string {
    return this.#request.sessionId;
  }

  get catalog(): SessionSkills["catalog"] {
    return this.#skills.catalog;
  }

  get directory(): SessionSkills["directory"] {
    return this.#skills.directory;
  }

  get identity(): SessionSkills["identity"] {
    return this.#skills.identity;
  }

  /** The agent's name, as it gave it. */
  get agent(): string {
    return this.#request.negotiation.agent;
  }

  /** The editor's version of ACP. */
  get protocol(): 1 | 2 {
    return this.#request.negotiation.protocol;
  }

  /** The agent sent its list of commands. Returns how that message is to be amended. */
  agentListed(commands: readonly unknown[]): ListAmendments | undefined {
    const { shown } = this.#context;
    const { forms } = this.#request;
    this.#agentCommands = commands;
    this.#isListAwaited = false;
    shown.listed();
    if (!this.#isReady) return undefined;
    const { skills } = this.catalog.snapshot;
    this.#learn(skills);
    const offered = this.#toInvocable(skills);
    const isAnyGone = commands.some(this.#isGone);
    if (!forms.commands || (offered.length === 0 && !isAnyGone)) return undefined;
    this.#updates.commandsAdded(this.#toCommands(offered));
    const merged = this.#merge(offered);
    const whole = isAnyGone ? toCommandList(commands, merged, this.#isGone) : undefined;
    const changes = { annotated: [...merged.annotated], added: encodeItems(merged.added) };
    const skillCount = clientDeclaresSkills(this.#request.negotiation) ? offered.length : undefined;
    return { ...changes, skills: skillCount, ...(whole !== undefined && { whole }) };
  }

  /** The agent's list was forwarded without our amendments. */
  listPassed(): void {
    this.#updates.commandsReplaced();
    this.#update();
  }

  /** The editor named this session. At its first prompt, updates that it may have dropped are repeated. */
  named(isPrompt: boolean): void {
    this.#updates.known();
    if (!isPrompt || !this.#isFirstPrompt) return;
    this.#isFirstPrompt = false;
    this.#isAnswered = true;
    this.#isListAwaited = false;
    this.#areFactsAwaited = false;
    this.#updates.forgetMissed();
    this.#update();
  }

  /** How the agent itself shows a skill. */
  how(offered: OfferedSkill): Shown {
    const { shown, settings } = this.#context;
    const isOwn = readsItself(this.#request.negotiation.facts, offered.sources, settings.home) !== false;
    return shown.how(this.#agentCommands, offered, isOwn);
  }

  /** The skill that the agent still shows under a name, although it is deleted. */
  goneSlug(name: string): string | undefined {
    return this.#agentCommands.some((command) => isCommandOfSkill(command, name) && this.#isGone(command))
      ? name
      : undefined;
  }

  /** The command under which the agent shows a skill's name. */
  commandOf(offered: OfferedSkill): string | undefined {
    const name = recordAt(this.#agentCommands[placeInAgentList(this.#agentCommands, offered)])?.["name"];
    return typeof name === "string" ? name : undefined;
  }

  close(): void {
    this.#isOpen = false;
    this.#stopTimer();
    this.#stopListening();
    this.#skills.close();
  }

  #toCommands(offered: readonly OfferedSkill[]): readonly JsonRecord[] {
    const factsOf = this.#facts();
    return offered.map((one) => toCommand(one, this.#request.negotiation, factsOf(one.skill)));
  }

  /** What is known of skills now. */
  #facts(): (skill: Skill) => KnownFacts {
    if (!this.#wantsFacts) return () => nothingKnown;
    const { denied } = this;
    return (skill) => {
      const environment = this.#context.environments.of(skill);
      const state = denied.has(skill) ? "denied" : this.#states.of(skill);
      return environment === undefined && state === undefined ? nothingKnown : { environment, state };
    };
  }

  #learn(skills: readonly OfferedSkill[]): void {
    this.#context.shown.learn(this.#agentCommands, skills);
    this.#context.shown.native.learn(this.#agentCommands, skills, this, (offered) => this.how(offered));
  }

  readonly #isGone = (command: unknown): boolean =>
    this.#context.shown.native.isGone(command, {
      directory: this.directory,
      find: (slug) => this.catalog.find(slug),
      ownRoots: this.catalog.snapshot.ownRoots ?? [],
    });

  #merge(offered: readonly OfferedSkill[]): MergedCommands {
    const { shown } = this.#context;
    return mergeCommands(this.#agentCommands, offered, this.#request.negotiation, {
      isOutdated: (command, skill) => shown.isOutdated(command, skill),
      how: (skill) => this.how(skill),
      factsOf: this.#facts(),
    });
  }

  /** The skills that the policy denies, with the reasons. */
  get denied(): DeniedSkills {
    return deniedSkills(this.#context.app.policyFor(this.directory), this.catalog.snapshot);
  }

  /** The skills with commands, without those that the policy denies: what a command inserts is for the model. */
  #toInvocable(offered: readonly OfferedSkill[]): readonly OfferedSkill[] {
    const { denied } = this;
    for (const [{ name }, { why }] of denied)
      this.#context.logOnce("warning", `The skill ${name} is not available: ${why}`);
    const invocable = toInvocable(offered);
    return denied.size === 0 ? invocable : invocable.filter(({ skill }) => !denied.has(skill));
  }

  /** Sends the editor the changes that it has not received. */
  #update(): void {
    if (!this.#isOpen || !this.#isReady || !this.#isAnswered || this.#mustAwaitFacts() || !this.#updates.mayFollow())
      return;
    const { logProblems, failed } = this.#context;
    try {
      const { skills, problems } = this.catalog.snapshot;
      this.#learn(skills);
      if (this.#request.forms.skills !== undefined) {
        const factsOf = this.#facts();
        this.#updates.skills(skills.map((offered) => projectSkill(offered, factsOf(offered.skill))));
      }
      const invocable = this.#toInvocable(skills);
      this.#sendCommands(invocable);
      this.#reportSent(this.#request.forms.skills === undefined ? invocable : skills);
      this.#updates.problems(problems);
      logProblems(problems);
      this.#sendNotice();
    } catch (error) {
      failed(error);
    }
  }

  #mustAwaitFacts(): boolean {
    this.#areFactsAwaited &&= this.#context.environments.isWorking || this.#states.isLooking;
    return this.#areFactsAwaited;
  }

  #reportSent(skills: readonly OfferedSkill[]): void {
    const { snapshot } = this.catalog;
    const { forms } = this.#request;
    if (this.#sentSnapshot === snapshot || (forms.skills === undefined && !forms.commands)) return;
    this.#sentSnapshot = snapshot;
    this.#skillsSent(skills);
  }

  #sendCommands(offered: readonly OfferedSkill[]): void {
    if (!this.#request.forms.commands || this.#isListAwaited) return;
    const toList = (): readonly unknown[] => toCommandList(this.#agentCommands, this.#merge(offered), this.#isGone);
    this.#updates.commands(this.#toCommands(offered), toList);
  }

  #sendNotice(): void {
    const failure = describeFailure(this.#skills.problems, this.catalog.snapshot);
    if (failure === undefined || this.#isNoticeSent) return;
    this.#isNoticeSent = true;
    // Problems of single skills are in the log already.
    if (this.#skills.problems.length > 0) this.#context.logOnce("warning", `${failure.title} ${failure.description}`);
    this.#updates.notice(failure.title, failure.description);
  }
}

/** Whether skills failed as a whole: some directories could not be searched, or there are errors and not one skill. */
function describeFailure(
  unusable: readonly string[],
  { skills, problems }: Snapshot,
): { readonly title: string; readonly description: string } | undefined {
  if (unusable.length > 0)
    return { title: "Some directories were not searched for skills.", description: unusable.join(" ") };
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  if (skills.length > 0 || first === undefined) return undefined;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return { title: "No skills could be read.", description: `${first.file}: ${first.message}${more} ${first.fix}` };
}
