import { type SessionRecord, maxReportedNames } from "../../../runtime/ledger.ts";
import type { OfferedSkill } from "../../../skills/skill.ts";
import { availableCommandsUpdate, sessionUpdate } from "../../../wire/methods.ts";
import type { BeginRequest } from "../../skill-service.ts";

/** What is known of a session when the agent has opened it. */
export function openingRecord(
  { sessionId, negotiation, forms }: BeginRequest,
  directory: string | undefined,
  now: number,
): SessionRecord {
  const { agent, editor } = negotiation;
  const { skills, commands } = forms;
  return {
    sessionId,
    agent,
    editor,
    directory,
    openedAt: now,
    forms: [
      ...(skills === undefined ? [] : [skills.method === sessionUpdate ? skills.kind : skills.method]),
      ...(commands ? [availableCommandsUpdate] : []),
    ],
    tools: false,
  };
}

export function toReportedSkills(skills: readonly OfferedSkill[], now: number): SessionRecord["announced"] {
  return { at: now, skills: skills.length, names: skills.slice(0, maxReportedNames).map(({ skill }) => skill.slug) };
}
