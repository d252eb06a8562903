import { lengthOf } from "../forms/entries.ts";
import { byName, isSame, reuseEqualList } from "../json.ts";
import type { NotificationFault, PlainCommand, ParsedNotification, StoredSkill } from "../forms/notification.ts";

/** The skills and commands that an agent announced in one session. A change replaces the whole object. */
export interface SkillSession {
  readonly agent: string;
  readonly sessionId: string;
  readonly skills: readonly StoredSkill[];
  /** Commands that nothing marks as skills. */
  readonly commands: readonly PlainCommand[];
  /** How many problems the agent has with its skills; `_acp-skills/list_problems` returns them. */
  readonly counts?: { readonly errors: number; readonly warnings: number } | undefined;
}

/** A session with what is needed to apply the next message. */
export interface SessionState {
  readonly session: SkillSession;
  /** The last list, by name; undefined if the agent sends none. */
  readonly listed: ReadonlyMap<string, StoredSkill> | undefined;
  readonly revision: number | undefined;
  readonly fromCommands: readonly StoredSkill[];
  readonly faults: { readonly list: readonly NotificationFault[]; readonly commands: readonly NotificationFault[] };
  /** The number of characters that the session holds in memory. */
  readonly size: number;
}

export function emptySession(agent: string, sessionId: string): SessionState {
  return {
    session: { agent, sessionId, skills: [], commands: [] },
    listed: undefined,
    revision: undefined,
    fromCommands: [],
    faults: { list: [], commands: [] },
    size: 0,
  };
}

const maxFaults = 200;

/** The session after a message. Skills that did not change are the same objects, and so is the session if nothing in it changed. */
export function applyNotification(
  state: SessionState,
  notification: ParsedNotification,
  maxSkills: number,
): SessionState {
  const { session, faults } = state;
  switch (notification.kind) {
    case "nothing":
      // The list stays as it is, and so do its faults.
      return { ...state, faults: { ...faults, list: [...faults.list, ...notification.faults].slice(0, maxFaults) } };
    case "list": {
      const { skills, revision, faults: list } = notification;
      return combine(state, { listed: byName(skills), revision, faults: { ...faults, list } });
    }
    case "delta":
      return applyDelta(state, notification, maxSkills);
    case "commands": {
      const { skills, commands, faults: found } = notification;
      const change = { fromCommands: skills, faults: { ...faults, commands: found } };
      return combine(state, change, isSame(session.commands, commands) ? session.commands : commands);
    }
  }
}

function applyDelta(
  state: SessionState,
  delta: ParsedNotification & { readonly kind: "delta" },
  maxSkills: number,
): SessionState {
  const { revision: before } = state;
  const missed: NotificationFault = {
    code: "MISSED_UPDATE",
    place: "/update/revision",
    message: `is ${delta.revision} after ${before ?? "no list"}: skills may be outdated`,
  };
  if (before !== undefined && delta.revision <= before)
    return { ...state, faults: { ...state.faults, list: [missed] } };
  const listed = new Map(state.listed);
  for (const name of delta.removed) listed.delete(name);
  for (const skill of delta.skills)
    if (listed.has(skill.name) || listed.size < maxSkills) listed.set(skill.name, skill);
  const isNext = before !== undefined && delta.revision === before + 1;
  const list = isNext ? delta.faults : [missed, ...delta.faults];
  return combine(state, { listed, revision: delta.revision, faults: { ...state.faults, list } });
}

/** Combines the list with the commands. The list says more; the commands add how a skill is invoked. */
function combine(
  before: SessionState,
  change: Partial<SessionState>,
  commands: readonly PlainCommand[] = before.session.commands,
): SessionState {
  const after = { ...before, ...change };
  const known = byName(before.session.skills);
  const fromCommands = byName(after.fromCommands);
  const all = [
    ...Array.from(after.listed?.values() ?? [], (skill) => withCommand(skill, fromCommands.get(skill.name))),
    ...after.fromCommands.filter(({ name }) => after.listed?.has(name) !== true),
  ];
  const skills = reuseEqualList(
    before.session.skills,
    all.map((skill) => {
      const previous = known.get(skill.name);
      return previous !== undefined && isSame(previous, skill) ? previous : skill;
    }),
  );
  return skills === before.session.skills && commands === before.session.commands
    ? after
    : { ...after, session: { ...before.session, skills, commands }, size: sizeOf(skills, commands) };
}

function sizeOf(skills: readonly StoredSkill[], commands: readonly PlainCommand[]): number {
  let size = 0;
  for (const skill of skills) size += lengthOf(skill);
  for (const { name, description } of commands) size += name.length + description.length;
  return size;
}

function withCommand(skill: StoredSkill, command: StoredSkill | undefined): StoredSkill {
  return command === undefined ? skill : { ...skill, command: command.command, file: command.file };
}
