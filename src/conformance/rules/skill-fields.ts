import { type JsonObject, fieldsOf, isStrings } from "../../client/json.ts";
import type { Exchange } from "../exchange.ts";
import { documents, type RuleViolation, quote, type ConformanceRule } from "../rule.ts";
import { sentSkills } from "./skill-lists.ts";

/** The length in characters, as the RFD counts: code points. */
function lengthOf(text: string): number {
  return Array.from(text).length;
}

interface FieldRule extends Pick<ConformanceRule, "id" | "title"> {
  readonly sentence: string;
  /** What is wrong with a skill; undefined if nothing. */
  readonly fault: (skill: JsonObject) => string | undefined;
}

function defineFieldRule({ id, title, sentence, fault }: FieldRule): ConformanceRule {
  return {
    ...{ id, title, severity: "error", appliesTo: "agent" },
    source: { ...documents.rfdTable, sentence },
    check: function* (exchange: Exchange): Iterable<RuleViolation> {
      for (const { line, skill, where } of sentSkills(exchange)) {
        const fields = fieldsOf(skill);
        const found = fields === undefined ? undefined : fault(fields);
        if (found !== undefined) yield { line, message: `${where}: ${found}` };
      }
    },
  };
}

const known = new Set(["name", "description", "license", "compatibility", "metadata", "allowedTools", "_meta"]);

/** What the RFD's table says of each field. */
export const skillFieldRules: readonly ConformanceRule[] = [
  defineFieldRule({
    id: "skill-name",
    title: "A skill's name has the RFD's form",
    sentence:
      "name: Max 64 characters. Lowercase letters, numbers, and hyphens only. Must not start or end with a hyphen. No consecutive hyphens.",
    fault({ name }) {
      if (typeof name !== "string") return `name is ${quote(name)}; it must be a string`;
      if (name.length > 64) return `name is ${lengthOf(name)} characters long; the limit is 64`;
      if (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return undefined;
      return `name ${quote(name)} must consist of lowercase letters, digits and single hyphens between them`;
    },
  }),
  defineFieldRule({
    id: "skill-description",
    title: "A skill has a description of at most 1,024 characters",
    sentence: "description: Max 1024 characters. Non-empty. Describes what the skill does and when to use it.",
    fault({ description }) {
      if (typeof description !== "string") return `description is ${quote(description)}; it must be a string`;
      if (description.trim() === "") return "description is empty";
      const length = lengthOf(description);
      return length > 1024 ? `description is ${length} characters long; the limit is 1,024` : undefined;
    },
  }),
  defineFieldRule({
    id: "skill-license",
    title: "A license is a string",
    sentence:
      "license: License name or reference to a bundled license file (e.g., MIT, Apache-2.0, ./licenses/my-license.txt).",
    fault: ({ license }) =>
      license === undefined || license === null || typeof license === "string"
        ? undefined
        : `license is ${quote(license)}; it must be a string`,
  }),
  defineFieldRule({
    id: "skill-compatibility",
    title: "Compatibility is a string of at most 500 characters",
    sentence:
      "compatibility: Max 500 characters. Indicates environment requirements (intended product, system packages, network access, etc.).",
    fault({ compatibility }) {
      if (compatibility === undefined || compatibility === null) return undefined;
      if (typeof compatibility !== "string") return `compatibility is ${quote(compatibility)}; it must be a string`;
      const length = lengthOf(compatibility);
      return length > 500 ? `compatibility is ${length} characters long; the limit is 500` : undefined;
    },
  }),
  defineFieldRule({
    id: "skill-allowed-tools",
    title: "allowedTools is an array of strings",
    sentence: "allowedTools: Array of pre-approved tools the skill may use (Experimental).",
    fault: ({ allowedTools }) =>
      allowedTools === undefined || allowedTools === null || isStrings(allowedTools)
        ? undefined
        : `allowedTools is ${quote(allowedTools)}; it must be an array of strings`,
  }),
  defineFieldRule({
    id: "skill-metadata",
    title: "Metadata maps strings to strings",
    sentence: "metadata: Arbitrary string key-value mapping for additional properties.",
    fault({ metadata }) {
      if (metadata === undefined || metadata === null) return undefined;
      const fields = fieldsOf(metadata);
      if (fields === undefined) return `metadata is ${quote(metadata)}; it must be an object`;
      const [key, value] = Object.entries(fields).find(([, one]) => typeof one !== "string") ?? [];
      return key === undefined ? undefined : `metadata.${key} is ${quote(value)}; it must be a string`;
    },
  }),
  defineFieldRule({
    id: "skill-meta",
    title: "_meta is an object",
    sentence: "_meta: Standard extensibility field, we can put metadata from the skills spec",
    fault: ({ _meta }) =>
      _meta === undefined || _meta === null || fieldsOf(_meta) !== undefined
        ? undefined
        : `_meta is ${quote(_meta)}; it must be an object`,
  }),
  {
    ...defineFieldRule({
      id: "skill-custom-fields",
      title: "Custom fields of a skill stand in _meta",
      sentence: "",
      fault(skill) {
        const custom = Object.keys(skill).find((key) => !known.has(key));
        return custom === undefined ? undefined : `${quote(custom)} is no field of a skill; put it into _meta`;
      },
    }),
    source: {
      ...documents.extensibility,
      sentence:
        "Implementations MUST NOT add any custom fields at the root of a type that's part of the specification. All possible names are reserved for future protocol versions.",
    },
  },
];
