import type { Clock } from "../clock.ts";
import type { SessionSkills } from "../skillset.ts";
import type { Problem } from "../skills/problem.ts";
import type { OfferedSkill } from "../skills/skill.ts";
import type { ToldOnce } from "../told-once.ts";
import type { AvailableSkill } from "../wire/available-skill.ts";
import type { Amendment } from "./amend.ts";
import { mergeCommands, toCommand, toCommandList } from "./command-list.ts";
import {
  commandsAmendments,
  commandsNotification,
  noticeMessage,
  type Notification,
  problemsMessage,
  skillsNotification,
} from "./emission.ts";
import { describeFailure } from "./failure.ts";
import type { Forms, Negotiation } from "./negotiation.ts";
import { isSameList, projectSkill } from "./projection.ts";
import type { JsonRecord } from "./raw-message.ts";
import type { SessionTools } from "./session-tools.ts";
import type { Shown, ShownSkills } from "./shown-skills.ts";
import { toTaught } from "./teaching.ts";
import { withinTime } from "./within-time.ts";

/** Editors drop updates of a session they have just been told of. */
const settlingTime = 50;
/** How long a prompt waits for the first reading of the disk before it is sent on as it is. */
const readingTime = 2_000;

export interface SessionContext {
  readonly id: string;
  readonly skills: SessionSkills;
  /** What its model has of our tools, where they are served to it. */
  readonly tools: SessionTools | undefined;
  readonly negotiation: Negotiation;
  readonly forms: Forms;
  readonly agentCommands: readonly unknown[];
  readonly shown: ShownSkills;
  readonly clock: Clock;
  readonly send: (message: Notification) => void;
  readonly tellOnce: ToldOnce["tellOnce"];
  /** Logs what is wrong with skills and was not logged before. */
  readonly logProblems: (problems: readonly Problem[]) => void;
  /** Told of a fault of ours, so that it ends nothing else. */
  readonly fault: (error: unknown) => void;
}

/** One session that the editor knows of: what it was told, and when it is told more. */
export interface Session {
  readonly catalog: SessionSkills["catalog"];
  readonly directory: SessionSkills["directory"];
  /** What its agent calls itself. */
  readonly agent: string;
  readonly tools: SessionTools | undefined;
  /** The agent sent its own list of commands: remembers it, and returns how that message is to be amended. */
  agentListed(commands: readonly unknown[], message: unknown): Amendment[];
  /** The agent's own commands, as it listed them last. */
  agentCommands(): readonly unknown[];
  /** The user's turn begins. What was sent before the first one may have been missed. */
  promptArrived(): void;
  /** A skill by slug or canonical name, and whether the agent shows it itself; waits for the first reading of the disk. */
  find(name: string): Promise<{ readonly offered: OfferedSkill; readonly shown: Shown } | undefined>;
  /** Resolves when the disk was read, or takes too long; undefined where its model is told nothing, or no turn need wait any more. */
  firstReading(): Promise<unknown> | undefined;
  /** What its model is to be told at the beginning of this turn, and how to note that it was. */
  lesson(): { readonly text: string; readonly told: () => void } | undefined;
  close(): void;
}

/** Opens a session whose response is on its way to the editor. */
export function openSession(context: SessionContext): Session {
  const { id, skills, tools, negotiation, forms, shown, clock, send, tellOnce, logProblems, fault } = context;
  const { catalog } = skills;
  let { agentCommands } = context;
  let isOpen = true;
  let isReady = false;
  let isSettled = false;
  let isFirstPrompt = true;
  let isNoticed = false;
  let wasAwaited = false;
  /** Who asked for skills is told also that there are none; to others an empty list is no news. */
  let toldSkills: readonly AvailableSkill[] | undefined = negotiation.optedIn ? undefined : [];
  /** As commands: they say more than the list of skills does, such as what to write behind the name. */
  let toldCommands: readonly JsonRecord[] = [];
  let toldProblems = "[]";

  function toCommands(offered: readonly OfferedSkill[]): readonly JsonRecord[] {
    return offered.map((skill) => toCommand(skill, negotiation));
  }

  function tellSkills(available: readonly AvailableSkill[]): void {
    if (forms.skillsUpdate === undefined || (toldSkills !== undefined && isSameList(toldSkills, available))) return;
    toldSkills = available;
    send(skillsNotification(id, forms.skillsUpdate, available));
  }

  function tellCommands(offered: readonly OfferedSkill[], available: readonly AvailableSkill[]): void {
    if (!forms.commands) return;
    const skillCommands = toCommands(offered);
    if (isSameList(toldCommands, skillCommands)) return;
    toldCommands = skillCommands;
    const commands = toCommandList(agentCommands, mergeCommands(agentCommands, offered, negotiation, shown.isOutdated));
    send(commandsNotification(id, commands, available));
  }

  function tellProblems(problems: readonly Problem[]): void {
    if (!forms.problems) return;
    const text = JSON.stringify(problems);
    if (text === toldProblems) return;
    toldProblems = text;
    send(problemsMessage(id, problems));
  }

  function tellFailure(): void {
    const failure = describeFailure(skills.problems, catalog.snapshot);
    if (failure === undefined || isNoticed) return;
    isNoticed = true;
    // Of problems each is on the log already.
    if (skills.problems.length > 0) tellOnce("warning", `${failure.title} ${failure.description}`);
    if (negotiation.notices) send(noticeMessage(id, failure.title, failure.description));
  }

  function tell(): void {
    if (!isOpen || !isReady || !isSettled) return;
    try {
      const offered = catalog.snapshot.skills;
      const available = offered.map(projectSkill);
      shown.learn(agentCommands, offered);
      tellSkills(available);
      tellCommands(offered, available);
      tellProblems(catalog.snapshot.problems);
      logProblems(catalog.snapshot.problems);
      tellFailure();
    } catch (error) {
      fault(error);
    }
  }

  const stopTimer = clock.after(settlingTime, () => {
    isSettled = true;
    tell();
  });
  const stopListening = catalog.onChange(tell);
  catalog.ready.then(
    () => {
      isReady = true;
      tell();
    },
    (error: unknown) => tellOnce("warning", `Skills cannot be read: ${String(error)}`),
  );

  return {
    catalog,
    directory: skills.directory,
    agent: negotiation.agent,
    tools,
    agentListed(commands, message) {
      agentCommands = commands;
      if (!isReady) return [];
      const offered = catalog.snapshot.skills;
      shown.learn(commands, offered);
      if (!forms.commands) return [];
      // Before the session has settled an editor may drop even this; it is told again then.
      if (isSettled) toldCommands = toCommands(offered);
      if (offered.length === 0) return [];
      const merged = mergeCommands(commands, offered, negotiation, shown.isOutdated);
      return commandsAmendments(message, merged, offered.map(projectSkill));
    },
    agentCommands: () => agentCommands,
    promptArrived() {
      if (!isFirstPrompt) return;
      isFirstPrompt = false;
      isSettled = true;
      if (!negotiation.optedIn) {
        toldSkills = [];
        toldCommands = [];
      }
      tell();
    },
    async find(name) {
      if (!isReady) await withinTime(catalog.ready, clock, readingTime);
      const offered = catalog.find(name);
      return offered && { offered, shown: shown.how(agentCommands, offered) };
    },
    firstReading() {
      if (isReady || wasAwaited || tools?.lessons === undefined) return undefined;
      wasAwaited = true;
      return withinTime(catalog.ready, clock, readingTime);
    },
    lesson: () => (isReady ? tools?.lessons?.next(toTaught(catalog.snapshot.skills)) : undefined),
    close() {
      isOpen = false;
      tools?.close();
      stopTimer();
      stopListening();
      skills.close();
    },
  };
}
