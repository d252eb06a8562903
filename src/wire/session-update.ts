import * as z from "zod";
import { availableSkillSchema } from "./available-skill.ts";
import { availableSkillsUpdate, extensionSkillsUpdate } from "./methods.ts";

const metaSchema = z.looseObject({}).nullish();

/** The RFD's update: the full list of skills, which replaces the previous one (Agent Skills List RFD, "Session Notification"). */
export const availableSkillsUpdateSchema = z.looseObject({
  sessionUpdate: z.enum([availableSkillsUpdate, extensionSkillsUpdate]),
  availableSkills: z.array(availableSkillSchema),
  _meta: metaSchema,
});

/** ACP's SessionUpdate, extended by our kinds. Other kinds are passed through unchanged. */
export const sessionUpdateSchema = z.union([
  availableSkillsUpdateSchema,
  z.looseObject({
    sessionUpdate: z
      .string()
      .min(1)
      .refine((kind) => kind !== availableSkillsUpdate && kind !== extensionSkillsUpdate)
      .meta({ not: { enum: [availableSkillsUpdate, extensionSkillsUpdate] } }),
  }),
]);

export type AvailableSkillsUpdate = z.infer<typeof availableSkillsUpdateSchema>;
export type SessionUpdate = z.infer<typeof sessionUpdateSchema>;
