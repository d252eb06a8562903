import type { Clock } from "../../base/clock.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { Problem } from "../../skills/rules/problem.ts";
import type { OfferedSkill } from "../../skills/skill.ts";
import type { ToldOnce } from "../../base/told-once.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { readsItself } from "./agents.ts";
import { mergeCommands, toCommand, toCommandList, toInvocable } from "../announce/command-list.ts";
import {
  commandsNotification,
  noticeMessage,
  type Notification,
  problemsMessage,
  skillsDelta,
  skillsMessage,
} from "../announce/emission.ts";
import { encodeItems } from "../bytes/encode-message.ts";
import { describeFailure } from "../process/failure.ts";
import { countProblems, type ProblemCounts } from "../announce/problem-counts.ts";
import { isSameList, projectSkill } from "../announce/projection.ts";
import { type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import type { BeginRequest, ListAmendments } from "../service/skill-service.ts";
import { placeInAgentList, type Shown, type ShownSkills } from "../announce/shown-skills.ts";

/** Editors drop updates of a session they have just been told of. */
const settlingTime = 50;
/** How long the commands of an agent that is known to list its own are waited for, so that the editor gets one list, not two. */
const listingTime = 1_500;

export interface SessionContext extends BeginRequest {
  readonly skills: SessionSkills;
  readonly shown: ShownSkills;
  /** The home directory. */
  readonly home: string;
  readonly clock: Clock;
  /** Puts a message on its way to the editor; `written` is called once it has left this process, or never will. */
  readonly send: (message: Notification, written: () => void) => void;
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
  /** The agent sent its own list of commands: remembers it, and returns how that message is to be amended. */
  agentListed(commands: readonly unknown[]): ListAmendments | undefined;
  /** The agent's list went to the editor as it was. */
  listPassed(): void;
  /** The editor named this session. At its first prompt it is told again what it may have missed. */
  heard(isPrompt: boolean): void;
  /** How the agent shows a skill itself. */
  how(offered: OfferedSkill): Shown;
  /** The command under which the agent shows a skill's name. */
  commandOf(offered: OfferedSkill): string | undefined;
  close(): void;
}

/** Opens a session whose response is on its way to the editor. */
export function openSession(context: SessionContext): Session {
  const { sessionId: id, skills, home, negotiation, forms, shown, clock, send, tellOnce, logProblems, fault } = context;
  const { catalog } = skills;
  const { facts } = negotiation;
  const optedIn = negotiation.optIn !== undefined;
  let { agentCommands } = context;
  let isOpen = true;
  let isReady = false;
  let isSettled = false;
  let isFirstPrompt = true;
  let isNoticed = false;
  /** The editor has named the session, so that it no longer drops its updates. */
  let isKnown = false;
  /** Something was sent that the editor may have dropped. */
  let maybeMissed = false;
  /** The agent's own list is still waited for. */
  let isListAwaited = agentCommands.length === 0 && shown.isListExpected(facts);
  let revision = 0;
  /** Who asked for skills is told also that there are none; to others an empty list is no news. */
  let toldSkills: readonly AvailableSkill[] | undefined = optedIn ? undefined : [];
  /** As commands: they say more than the list of skills does, such as what to write behind the name. */
  let toldCommands: readonly JsonRecord[] = [];
  let toldProblems: ProblemCounts = { errors: 0, warnings: 0 };
  /** Messages that the editor has not read yet: until it does, nothing more is sent. */
  let unread = 0;
  let isBehind = false;

  function post(message: Notification): void {
    unread++;
    if (!isKnown) maybeMissed = true;
    send(message, () => {
      unread--;
      if (unread > 0 || !isBehind) return;
      isBehind = false;
      tell();
    });
  }

  function howShown(offered: OfferedSkill): Shown {
    return shown.how(agentCommands, offered, readsItself(facts, offered.sources, home) !== false);
  }

  function toCommands(offered: readonly OfferedSkill[]): readonly JsonRecord[] {
    return offered.map((skill) => toCommand(skill, negotiation));
  }

  function tellSkills(available: readonly AvailableSkill[]): void {
    if (forms.skills === undefined || (toldSkills !== undefined && isSameList(toldSkills, available))) return;
    const isFirst = revision === 0;
    revision++;
    post(
      isFirst || !forms.skills.deltas
        ? skillsMessage(id, forms.skills, revision, available)
        : skillsDelta(id, forms.skills, revision, { before: toldSkills ?? [], after: available }),
    );
    toldSkills = available;
  }

  function tellCommands(offered: readonly OfferedSkill[]): void {
    if (!forms.commands || isListAwaited) return;
    const skillCommands = toCommands(offered);
    if (isSameList(toldCommands, skillCommands)) return;
    toldCommands = skillCommands;
    const commands = toCommandList(
      agentCommands,
      mergeCommands(agentCommands, offered, negotiation, { isOutdated: shown.isOutdated, how: howShown }),
    );
    post(commandsNotification(id, commands, offered.length));
  }

  function tellProblems(problems: readonly Problem[]): void {
    if (!forms.problems) return;
    const counts = countProblems(problems);
    if (counts.errors === toldProblems.errors && counts.warnings === toldProblems.warnings) return;
    toldProblems = counts;
    post(problemsMessage(id, counts));
  }

  function tellFailure(): void {
    const failure = describeFailure(skills.problems, catalog.snapshot);
    if (failure === undefined || isNoticed) return;
    isNoticed = true;
    // Of problems each is on the log already.
    if (skills.problems.length > 0) tellOnce("warning", `${failure.title} ${failure.description}`);
    if (negotiation.notices) post(noticeMessage(id, failure.title, failure.description));
  }

  function tell(): void {
    if (!isOpen || !isReady || !isSettled) return;
    if (unread > 0) {
      isBehind = true;
      return;
    }
    try {
      const offered = catalog.snapshot.skills;
      shown.learn(agentCommands, offered);
      if (forms.skills !== undefined) tellSkills(offered.map(projectSkill));
      tellCommands(toInvocable(offered));
      tellProblems(catalog.snapshot.problems);
      logProblems(catalog.snapshot.problems);
      tellFailure();
    } catch (error) {
      fault(error);
    }
  }

  let stopTimer = clock.after(settlingTime, () => {
    isSettled = true;
    tell();
    if (!isListAwaited) return;
    stopTimer = clock.after(listingTime - settlingTime, () => {
      isListAwaited = false;
      tell();
    });
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
    agentListed(commands) {
      agentCommands = commands;
      isListAwaited = false;
      shown.listed();
      if (!isReady) return undefined;
      shown.learn(commands, catalog.snapshot.skills);
      const offered = toInvocable(catalog.snapshot.skills);
      if (!forms.commands || offered.length === 0) return undefined;
      toldCommands = toCommands(offered);
      if (!isKnown) maybeMissed = true;
      const { annotated, added } = mergeCommands(commands, offered, negotiation, {
        isOutdated: shown.isOutdated,
        how: howShown,
      });
      return { annotated: [...annotated], added: encodeItems(added), skills: offered.length };
    },
    listPassed() {
      toldCommands = [];
      tell();
    },
    heard(isPrompt) {
      isKnown = true;
      if (!isPrompt || !isFirstPrompt) return;
      isFirstPrompt = false;
      isSettled = true;
      isListAwaited = false;
      if (!optedIn && maybeMissed) {
        toldSkills = [];
        toldCommands = [];
      }
      tell();
    },
    how: howShown,
    commandOf(offered) {
      const name = recordAt(agentCommands[placeInAgentList(agentCommands, offered)])?.["name"];
      return typeof name === "string" ? name : undefined;
    },
    close() {
      isOpen = false;
      stopTimer();
      stopListening();
      skills.close();
    },
  };
}
