import * as z from "zod";
import { availableSkillSchema, type AvailableSkill } from "../wire/available-skill.ts";
import { availableCommandsUpdate, availableSkillsUpdate, extensionSkillsUpdate, metaKey } from "../wire/methods.ts";

/** The whole list of skills of one session at one moment; it replaces the one before. */
export interface SkillsUpdate {
  readonly sessionId: string;
  readonly skills: readonly AvailableSkill[];
}

const listSchema = z.object({ availableSkills: z.array(z.unknown()) });
const metaSchema = z.looseObject({ [metaKey]: listSchema });
const paramsSchema = z.looseObject({
  sessionId: z.string(),
  update: z.looseObject({ sessionUpdate: z.string(), _meta: z.unknown().optional() }),
  _meta: z.unknown().optional(),
});

function listIn(params: z.infer<typeof paramsSchema>): readonly unknown[] | undefined {
  const { update } = params;
  switch (update.sessionUpdate) {
    case availableSkillsUpdate:
    case extensionSkillsUpdate:
      return listSchema.safeParse(update).data?.availableSkills;
    case availableCommandsUpdate:
      return [update._meta, params._meta]
        .map((meta) => metaSchema.safeParse(meta).data?.[metaKey].availableSkills)
        .find((list) => list !== undefined);
    default:
      return undefined;
  }
}

/**
 * Reads the skills out of the params of a `session/update`, whichever form they travel in: the RFD's update, its
 * `_`-prefixed twin, or the `_meta` of a command list (ACP.md A-6). Undefined where it carries none. A skill that does not
 * fit AvailableSkill is left out.
 */
export function readSkillsUpdate(params: unknown): SkillsUpdate | undefined {
  const parsed = paramsSchema.safeParse(params);
  const list = parsed.success ? listIn(parsed.data) : undefined;
  if (!parsed.success || list === undefined) return undefined;
  const skills = list.flatMap((item) => {
    const skill = availableSkillSchema.safeParse(item);
    return skill.success ? [skill.data] : [];
  });
  return { sessionId: parsed.data.sessionId, skills };
}
