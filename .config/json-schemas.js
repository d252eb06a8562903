import * as z from "zod";
import { manifestSchema } from "../dist/skills/manifest.js";
import { problemSchema } from "../dist/skills/problem.js";
import { availableSkillSchema } from "../dist/wire/available-skill.js";
import { availableSkillsUpdateSchema, sessionUpdateSchema } from "../dist/wire/session-update.js";

/** @type {Record<string, z.ZodType>} */
const published = {
  AvailableSkill: availableSkillSchema,
  AvailableSkillsUpdate: availableSkillsUpdateSchema,
  SessionUpdate: sessionUpdateSchema,
  "skill.toml": manifestSchema,
  problem: problemSchema,
};

/**
 * The text of every file in `schema/`, by file name: generated, never edited by hand.
 * @returns {Record<string, string>}
 */
export function jsonSchemas() {
  return Object.fromEntries(
    Object.entries(published).map(([title, schema]) => {
      const json = { title, ...z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" }) };
      return [`${title}.json`, `${JSON.stringify(json, null, 2)}\n`];
    }),
  );
}
