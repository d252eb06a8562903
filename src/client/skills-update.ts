import * as z from "zod";
import { availableSkillSchema, type AvailableSkill } from "../wire/available-skill.ts";
import { fromCommandFacts } from "../wire/command-facts.ts";
import { availableCommandsUpdate, availableSkillsUpdate, extensionSkillsUpdate, metaKey } from "../wire/methods.ts";

/** The whole list of skills of one session at one moment; it replaces the one before. */
export interface SkillsUpdate {
  readonly sessionId: string;
  readonly skills: readonly AvailableSkill[];
}

/** What changed in a session's skills since the update of the revision before; for clients that asked for deltas. */
export interface SkillsDelta {
  readonly sessionId: string;
  readonly revision: number;
  readonly added: readonly AvailableSkill[];
  readonly changed: readonly AvailableSkill[];
  /** Names. */
  readonly removed: readonly string[];
}

const listSchema = z.looseObject({ availableSkills: z.array(z.unknown()) });
const deltaSchema = z.looseObject({
  revision: z.number(),
  added: z.array(z.unknown()),
  changed: z.array(z.unknown()),
  removed: z.array(z.string()),
});
const markSchema = z.looseObject({ [metaKey]: z.looseObject({ skills: z.number() }) });
const commandsSchema = z.looseObject({ availableCommands: z.array(z.unknown()) });
const commandSchema = z.looseObject({
  name: z.string(),
  description: z.string(),
  _meta: z.looseObject({ [metaKey]: z.looseObject({ source: z.string() }) }),
});
const paramsSchema = z.looseObject({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string() }),
  _meta: z.unknown().optional(),
});
type Params = z.infer<typeof paramsSchema>;

function listIn({ update, _meta }: Params): readonly unknown[] | undefined {
  switch (update.sessionUpdate) {
    case availableSkillsUpdate:
    case extensionSkillsUpdate:
      return listSchema.safeParse(update).data?.availableSkills;
    case availableCommandsUpdate:
      return markSchema.safeParse(_meta).success
        ? commandsSchema.safeParse(update).data?.availableCommands.flatMap(toSkill)
        : undefined;
    default:
      return undefined;
  }
}

function toSkill(command: unknown): readonly unknown[] {
  const { data } = commandSchema.safeParse(command);
  return data === undefined ? [] : [fromCommandFacts(data, data._meta[metaKey])];
}

/**
 * Reads the skills out of the params of a `session/update` or `_acp-skills/skills_update`, whichever form they travel in: the RFD's
 * update, its `_`-prefixed twin, or a command list (ACP.md A-6). Undefined where it carries no whole list. A skill that does not fit
 * AvailableSkill is left out.
 */
export function readSkillsUpdate(params: unknown): SkillsUpdate | undefined {
  const parsed = paramsSchema.safeParse(params).data;
  const list = parsed && listIn(parsed);
  return parsed && list && { sessionId: parsed.sessionId, skills: validSkills(list) };
}

/** Reads a change out of the same params; undefined where they carry none. */
export function readSkillsDelta(params: unknown): SkillsDelta | undefined {
  const parsed = paramsSchema.safeParse(params).data;
  const kind = parsed?.update.sessionUpdate;
  if (parsed === undefined || (kind !== availableSkillsUpdate && kind !== extensionSkillsUpdate)) return undefined;
  const { data } = deltaSchema.safeParse(parsed.update);
  if (data === undefined) return undefined;
  const { revision, added, changed, removed } = data;
  const { sessionId } = parsed;
  return { sessionId, revision, added: validSkills(added), changed: validSkills(changed), removed };
}

function validSkills(list: readonly unknown[]): readonly AvailableSkill[] {
  return list.flatMap((item) => {
    const skill = availableSkillSchema.safeParse(item);
    return skill.success ? [skill.data] : [];
  });
}
