import * as z from "zod";
import { outputSchema } from "./output-schemas.js";
import { manifestSchema } from "../.build/skills/manifest/manifest-schema.js";
import { conformanceIndexSchema } from "./conformance-schema.js";
import { configSchema } from "../.build/serve/config/config-schema.js";
import { problemSchema } from "../.build/skills/rules/problem.js";
import { toolDefinitions } from "../.build/runtime/tools.js";
import { policySchema } from "../.build/runtime/trust/policy/policy-schema.js";
import { availableSkillSchema } from "../.build/wire/available-skill.js";
import { availableSkillsUpdateSchema, sessionUpdateSchema } from "../.build/wire/available-skill.js";

/** @type {Record<string, z.ZodType>} */
const published = {
  AvailableSkill: availableSkillSchema,
  AvailableSkillsUpdate: availableSkillsUpdateSchema,
  SessionUpdate: sessionUpdateSchema,
  "skill.toml": manifestSchema,
  problem: problemSchema,
  policy: policySchema,
  "acp-skills.serve": configSchema,
  ConformanceIndex: conformanceIndexSchema,
};

/**
 * The text of every file in `schema/`, by file name: generated, never edited by hand.
 * @returns {Record<string, string>}
 */
export function jsonSchemas() {
  /** @type {Record<string, string>} */
  const files = {
    "tools.json": toText({ tools: toolDefinitions("json-schema") }),
    "output.json": toText(outputSchema()),
  };
  for (const [title, schema] of Object.entries(published)) {
    files[`${title}.json`] = toText({
      title,
      ...z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" }),
    });
  }
  return files;
}

/**
 * @param {object} json
 * @returns {string}
 */
function toText(json) {
  return `${JSON.stringify(json, null, 2)}\n`;
}
