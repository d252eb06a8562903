import * as z from "zod";
import { availableSkillsUpdate, extensionSkillsUpdate } from "./methods.ts";

/** Facts about a skill that AvailableSkill has no field for, under the key {@link metaKey}. */
const skillMetaSchema = z.looseObject({
  name: z.string().describe("Canonical name: dotted for a Skills Protocol manifest, else the slug."),
  version: z.string(),
  kind: z.enum(["instruction", "action"]),
  namespace: z.string(),
  digest: z.string().optional().describe("sha256 over the skill's files; present where it has been computed."),
  source: z
    .string()
    .describe("The root directory the skill was found under; of a skill that others publish, the URL of its source."),
  environment: z
    .looseObject({
      status: z
        .enum(["met", "missing", "unknown"])
        .describe("unknown: something is required that cannot be determined, such as network access."),
      missing: z.array(z.string()).optional().describe("What is missing, in words: git, Python."),
    })
    .optional()
    .describe(
      "Whether this machine has what the skill's frontmatter requires; absent if it requires nothing, and until it is known.",
    ),
  userInvocable: z.literal(false).optional().describe("Present if people cannot invoke it with /name."),
  state: z
    .enum(["needs-approval", "blocked", "denied"])
    .optional()
    .describe(
      "Why it cannot be used now: it waits for a person's approval, was blocked by them, or is denied by a policy; absent if it can, and until it is known.",
    ),
});

export const availableSkillSchema = z.looseObject({
  name: z
    .string()
    .min(1)
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  description: z
    .string()
    .min(1)
    .refine((text) => Array.from(text).length <= 1024 && text.trim() !== "", "1 to 1024 code points, not blank")
    .meta({ maxLength: 1024, pattern: "\\S" }),
  license: z.string().optional(),
  compatibility: z
    .string()
    .refine((text) => Array.from(text).length <= 500, "at most 500 code points")
    .meta({ maxLength: 500 })
    .optional(),
  allowedTools: z.array(z.string()).optional(),
  _meta: z.looseObject({ "acp-skills": skillMetaSchema.optional() }).nullish(),
});

/** One skill as sent to editors: the RFD's AvailableSkill, with a stricter name, and the facts of acp-skills below `_meta`. */
export type AvailableSkill = z.infer<typeof availableSkillSchema>;

const metaSchema = z.looseObject({}).nullish();

/** The RFD's update: the full list of skills, which replaces the previous one (Agent Skills List RFD, "Session Notification"). */
export const availableSkillsUpdateSchema = z.looseObject({
  sessionUpdate: z.enum([availableSkillsUpdate, extensionSkillsUpdate]),
  availableSkills: z.array(availableSkillSchema),
  _meta: metaSchema,
});

/** ACP's SessionUpdate, extended by the kinds of acp-skills. Other kinds are passed through unchanged. */
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
