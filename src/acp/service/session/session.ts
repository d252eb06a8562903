import type { OnceLog } from "../../../base/log.ts";
import type { App } from "../../../runtime/app.ts";
import { type DeniedSkills, deniedSkills, ownerOf } from "../../../runtime/caller.ts";
import type { Settings } from "../../../runtime/options.ts";
import type { SkillEnvironments } from "../../../skills/environment.ts";
import type { Problem } from "../../../skills/rules.ts";
import type { OfferedSkill, Skill, Snapshot } from "../../../skills/skill.ts";
import type { SessionSkills } from "../../../skills/skillset.ts";
import {
  type CommandDialect,
  type MergedCommands,
  isInvocable,
  mergeCommands,
  toCommand,
  toCommandList,
} from "../announce/command-list.ts";
import {
  AgentCommands,
  type NativelyListedSkills,
  type SkillOfAgent,
  findListed,
  readsItself,
} from "../announce/native-skills.ts";
import { EditorUpdates, type SendToEditor } from "../announce/editor-updates.ts";
import { type KnownFacts, nothingKnown, projectSkill } from "../../../wire/command-facts.ts";
import { reportFault } from "../../messages/amend.ts";
import { encodeItems } from "../../emission.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import type { BeginRequest, ListAmendments } from "../../skill-service.ts";
import { SkillStates } from "./skill-states.ts";

/** The delay after the response that opens a session: editors drop updates about the session right after it. */
const responseMs = 50;
/** The maximum wait for the command list of an agent that is known to send one, so that the editor gets one list, not two. */
const listingMs = 1_500;
/** The maximum wait of the first list for facts about this machine and approvals. Without them, a second whole list is sent later. */
const factsMs = 1_000;

/** The context of a connection in which skills are announced. */
export interface SessionContext {
  readonly app: App;
  readonly settings: Settings;
  readonly environments: SkillEnvironments;
  readonly shown: NativelyListedSkills;
  readonly send: SendToEditor;
  readonly logOnce: OnceLog["logOnce"];
  /** Logs the problems that were not logged before. */
  readonly logProblems: (problems: readonly Problem[]) => void;
}

/** Called with the skills of the latest list that the editor was sent. Must not throw. */
type SkillsSent = (skills: readonly OfferedSkill[]) => void;

/** The skills and commands that one snapshot has for the editor. */
interface View {
  readonly skills: readonly OfferedSkill[];
  /** The skills that are offered as commands. */
  readonly invocable: readonly OfferedSkill[];
  readonly commands: readonly JsonRecord[];
  /** Returns the current facts about a skill. */
  readonly factsOf: (skill: Skill) => KnownFacts;
}

/** One open session. Decides which skills and commands its editor gets, and when. */
export class Session {
  readonly id: string;
  readonly catalog: SessionSkills["catalog"];
  readonly directory: SessionSkills["directory"];
  readonly identity: SessionSkills["identity"];
  /** The agent's name, as the agent declares it. */
  readonly agent: string;
  /** The editor's version of ACP. */
  readonly protocol: 1 | 2;
  /** Whether the editor shows forms. */
  readonly showsForms: boolean;
  readonly #request: BeginRequest;
  readonly #dialect: CommandDialect;
  readonly #skills: SessionSkills;
  readonly #context: SessionContext;
  readonly #skillsSent: SkillsSent;
  #sentSnapshot: Snapshot | undefined;
  readonly #stopListening: () => void;
  readonly #states: SkillStates;
  readonly #updates: EditorUpdates;
  #stopTimer: () => void;
  #agentList: AgentCommands;
  #isOpen = true;
  /** Whether the skills were read. */
  #isReady = false;
  #isAnswered = false;
  #isFirstPrompt = true;
  #isListAwaited: boolean;
  readonly #wantsFacts: boolean;
  #areFactsAwaited: boolean;

  /** Created while the response that opens the session is on its way to the editor. */
  constructor(request: BeginRequest, skills: SessionSkills, context: SessionContext, skillsSent: SkillsSent) {
    const { negotiation, agentCommands } = request;
    const { app, shown, settings, logOnce } = context;
    this.id = request.sessionId;
    this.catalog = skills.catalog;
    this.directory = skills.directory;
    this.identity = skills.identity;
    this.agent = negotiation.agent;
    this.protocol = negotiation.protocol;
    this.showsForms = negotiation.showsForms;
    this.#request = request;
    this.#dialect = { ...negotiation, form: request.forms.commands ?? "command" };
    this.#skills = skills;
    this.#context = context;
    this.#skillsSent = skillsSent;
    this.#agentList = new AgentCommands(agentCommands);
    this.#isListAwaited = agentCommands.length === 0 && shown.isListExpected(negotiation.facts);
    this.#areFactsAwaited = this.#wantsFacts = negotiation.declaresSkills || request.forms.skills !== undefined;
    const update = (): void => this.#update();
    this.#updates = new EditorUpdates(request, { send: context.send, clock: settings.clock, caughtUp: update });
    this.#stopTimer = settings.clock.after(responseMs, () => {
      this.#isAnswered = true;
      this.#update();
      if (!this.#isListAwaited) return;
      this.#stopTimer = settings.clock.after(listingMs - responseMs, () => {
        this.#isListAwaited = false;
        this.#update();
      });
    });
    this.#states = new SkillStates({
      app,
      dataDirectory: settings.dataDirectory,
      owner: ownerOf(this.id, this),
      directory: this.directory,
      changed: update,
      failed: (error) => logOnce("warning", `Whether skills are approved is not known: ${String(error)}`),
    });
    const stopChanges = skills.catalog.onChange((snapshot, change) => {
      shown.changed(change, this.directory);
      update();
      if (this.#wantsFacts) this.#states.inspect(snapshot.skills);
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
        // For editors that get no facts, no facts are determined and trust is not loaded.
        if (this.#wantsFacts) {
          context.environments.prepare(found);
          this.#states.inspect(found);
        }
        stopWaiting = settings.clock.after(factsMs, () => {
          this.#areFactsAwaited = false;
          this.#update();
        });
        this.#update();
      },
      (error: unknown) => context.logOnce("warning", `Skills cannot be read: ${String(error)}`),
    );
  }

  /** Called when the agent sends its list of commands. Returns the amendments of that message; undefined for none. */
  agentListed(commands: readonly unknown[]): ListAmendments | undefined {
    this.#agentList = new AgentCommands(commands);
    this.#isListAwaited = false;
    this.#context.shown.listed();
    if (!this.#isReady) return undefined;
    const view = this.#view();
    const isAnyGone = commands.some(this.#isGone);
    if (this.#request.forms.commands === undefined || (view.invocable.length === 0 && !isAnyGone)) return undefined;
    this.#updates.commandsAdded(view.commands);
    const merged = this.#merge(view);
    return {
      annotated: [...merged.annotated],
      added: encodeItems(merged.added),
      skills: this.#request.negotiation.declaresSkills ? view.invocable.length : undefined,
      ...(isAnyGone && { whole: toCommandList(commands, merged, this.#isGone) }),
    };
  }

  /** Called when the agent's list was forwarded without the amendments. */
  listPassed(): void {
    this.#updates.commandsReplaced();
    this.#update();
  }

  /** Called when the editor names this session. With the first prompt, updates that the editor may have dropped are repeated. */
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

  /** Finds the command with which the agent itself shows a skill; undefined if there is none. */
  shown(offered: OfferedSkill): SkillOfAgent | undefined {
    return this.#context.shown.shown(this.#agentList, offered, this.#isOwn);
  }

  /** Finds the skill that is listed under exactly this name. */
  listed(name: string): OfferedSkill | undefined {
    return findListed(name, this.catalog, this);
  }

  /** Finds the slug of a deleted skill that the agent still shows under a name; undefined if there is none. */
  goneSlug(name: string): string | undefined {
    return this.#agentList.named(name).some(this.#isGone) ? name : undefined;
  }

  close(): void {
    this.#isOpen = false;
    this.#stopTimer();
    this.#stopListening();
    this.#skills.close();
  }

  /** Reads the skills and commands that the current snapshot has for the editor. */
  #view(): View {
    const { skills } = this.catalog.snapshot;
    const { forms } = this.#request;
    const { denied } = this;
    this.#context.shown.learn(this.#agentList, skills, this.directory, this.#isOwn);
    for (const [{ name }, { why }] of denied)
      this.#context.logOnce("warning", `The skill ${name} is not available: ${why}`);
    const factsOf = (skill: Skill): KnownFacts => {
      if (!this.#wantsFacts) return nothingKnown;
      const environment = this.#context.environments.of(skill);
      const state = denied.has(skill) ? "denied" : this.#states.of(skill);
      return environment === undefined && state === undefined ? nothingKnown : { environment, state };
    };
    // A command inserts text for the model, which must not get denied skills.
    const invocable = skills.filter((offered) => isInvocable(offered) && !denied.has(offered.skill));
    const commands =
      forms.commands === undefined ? [] : invocable.map((one) => toCommand(one, this.#dialect, factsOf(one.skill)));
    return { skills, invocable, commands, factsOf };
  }

  readonly #isOwn = ({ sources }: OfferedSkill): boolean =>
    readsItself(this.#request.negotiation.facts, sources, this.#context.settings.home) !== false;

  readonly #isGone = (command: unknown): boolean =>
    this.#context.shown.isGone(command, {
      directory: this.directory,
      find: (slug) => this.catalog.find(slug),
      ownRoots: this.catalog.snapshot.ownRoots ?? [],
    });

  #merge({ invocable, factsOf }: View): MergedCommands {
    return mergeCommands(invocable, this.#dialect, { shownOf: (offered) => this.shown(offered), factsOf });
  }

  /** The skills that the policy denies, with the reasons. */
  get denied(): DeniedSkills {
    return deniedSkills(this.#context.app.policyFor(this.directory), this.catalog.snapshot);
  }

  /** Sends the editor the changes that it has not received, once it may get them. */
  #update(): void {
    if (!this.#isOpen || !this.#isReady || !this.#isAnswered || this.#mustAwaitFacts() || !this.#updates.mayFollow())
      return;
    try {
      const [{ snapshot }, { forms }] = [this.catalog, this.#request];
      const view = this.#view();
      const { skills, invocable, factsOf } = view;
      if (forms.skills !== undefined)
        this.#updates.skills(skills.map((offered) => projectSkill(offered, factsOf(offered.skill))));
      if (forms.commands !== undefined && !this.#isListAwaited)
        this.#updates.commands(view.commands, () =>
          toCommandList(this.#agentList.commands, this.#merge(view), this.#isGone),
        );
      if (this.#sentSnapshot !== snapshot && (forms.skills !== undefined || forms.commands !== undefined)) {
        this.#sentSnapshot = snapshot;
        this.#skillsSent(forms.skills === undefined ? invocable : skills);
      }
      this.#updates.problems(snapshot.problems);
      this.#context.logProblems(snapshot.problems);
      const warning = this.#updates.failed(this.#skills.problems, snapshot);
      if (warning !== undefined) this.#context.logOnce("warning", warning);
    } catch (error) {
      reportFault(this.#context, error);
    }
  }

  #mustAwaitFacts(): boolean {
    this.#areFactsAwaited &&= this.#context.environments.isWorking || this.#states.isReading;
    return this.#areFactsAwaited;
  }
}
