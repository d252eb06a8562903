import { arrayOf, fieldsOf, isString, isStrings, type JsonObject } from "../../client/json.ts";
import { isSkillsKind } from "../../client/skills-update.ts";
import { availableCommandsUpdate } from "../../wire/methods.ts";
import {
  type RecordedUpdate,
  allUpdates,
  deltaFields,
  isDelta,
  stringsIn,
  sentSkills,
  skillUpdates,
} from "../exchange.ts";
import { type ConformanceRule, type RuleOrigin, defineRules, documents, each, noCustomFields, quote } from "../rule.ts";

/** Rules about the arrival of a list of skills: when it comes, its nesting, its completeness and its changes. */
export const listRules = defineRules([
  {
    id: "session-known-first",
    title: "No list is sent before the client knows the session",
    ...documents.own("A list names a session only after the response that created it: editors drop earlier ones."),
    check: each(allUpdates, function* ({ line, sessionId, kind }, { sessions }) {
      if (!isSkillsKind(kind) && kind !== availableCommandsUpdate) return;
      const known = sessions.get(sessionId)?.known;
      if (known === undefined) yield `${kind} names the session ${quote(sessionId)}, which the client does not know`;
      else if (line < known) yield `${kind} arrives before the response on line ${known} that names its session`;
    }),
  },
  {
    id: "update-nested",
    title: "The update is nested in params.update",
    ...documents.own("The update is nested in params.update, as all of ACP are: clients refuse the RFD's flat sample."),
    check: each(allUpdates, function* ({ kind, isFlat }) {
      if (isFlat) yield `sessionUpdate ${quote(kind)} stands in params itself; put it into params.update`;
    }),
  },
  {
    id: "list-present",
    title: "An update has an array of skills",
    ...documents.rfdPlan("availableSkills: Required array of AvailableSkill"),
    check: function* (exchange) {
      for (const update of skillUpdates(exchange)) {
        const { line, kind, update: fields } = update;
        const list = fields["availableSkills"];
        if (list !== undefined && deltaFields.some((field) => fields[field] !== undefined))
          yield { line, message: `${kind} has a whole list and changes; it must have one of them` };
        if (!isDelta(update) && !Array.isArray(list))
          yield { line, message: `availableSkills is ${quote(list)}; it must be an array` };
      }
      for (const { line, skill, where } of sentSkills(exchange))
        if (fieldsOf(skill) === undefined) yield { line, message: `${where} is ${quote(skill)}; a skill is an object` };
    },
  },
  {
    id: "skill-names-unique",
    title: "Names are unique in a list",
    ...documents.own("Names are unique in a list, because people invoke skills by name."),
    check: each(skillUpdates, function* ({ update }) {
      const seen = new Set<unknown>();
      for (const name of arrayOf(update["availableSkills"]).map(nameOf)) {
        if (typeof name === "string" && seen.has(name)) yield `${quote(name)} is in the list more than once`;
        seen.add(name);
      }
    }),
  },
  {
    id: "deltas-asked-for",
    title: "Changes are sent only to a client that asked for them",
    ...documents.own("Changes alone are sent only to a client that opted in with deltas: true."),
    check: each(skillUpdates, function* (update, { negotiation }) {
      if (negotiation?.optIn?.deltas !== true && isDelta(update))
        yield "only changes are sent, but the client did not ask for deltas; send the whole list";
    }),
  },
  {
    id: "deltas-apply",
    title: "Changes apply to the list before them",
    ...documents.own(
      "Changes {revision, added, changed, removed} follow a whole list of the session, apply to it, and count revisions up by one; removed holds names.",
    ),
    check: function* (exchange) {
      const lists = new Map<string, { names: Set<unknown>; revision: unknown }>();
      for (const update of skillUpdates(exchange)) {
        const { line, sessionId, update: fields } = update;
        const { revision, removed } = fields;
        if (!isDelta(update)) {
          lists.set(sessionId, { names: new Set(arrayOf(fields["availableSkills"]).map(nameOf)), revision });
          continue;
        }
        const before = lists.get(sessionId);
        if (before === undefined) {
          yield { line, message: "changes arrive before the first whole list of the session" };
          continue;
        }
        for (const message of faultsOfDelta(update, before)) yield { line, message };
        for (const skill of arrayOf(fields["added"])) before.names.add(nameOf(skill));
        for (const name of stringsIn(removed)) before.names.delete(name);
        before.revision = revision;
      }
    },
  },
]);

function nameOf(skill: unknown): unknown {
  return fieldsOf(skill)?.["name"];
}

function* faultsOfDelta(
  { update }: RecordedUpdate,
  before: { readonly names: ReadonlySet<unknown>; readonly revision: unknown },
): Iterable<string> {
  const { revision, removed } = update;
  for (const field of ["added", "changed"])
    if (!Array.isArray(update[field])) yield `${field} is ${quote(update[field])}; it must be an array of skills`;
  if (!isStrings(removed)) yield `removed is ${quote(removed)}; it must be an array of names`;
  if (typeof revision !== "number") yield `revision is ${quote(revision)}; it must be a number`;
  else if (typeof before.revision === "number" && revision !== before.revision + 1)
    yield `revision ${revision} follows ${before.revision}; it must be ${before.revision + 1}`;
  for (const name of arrayOf(update["added"]).map(nameOf))
    if (before.names.has(name)) yield `${quote(name)} is added, but is in the list already`;
  for (const name of arrayOf(update["changed"]).map(nameOf))
    if (!before.names.has(name)) yield `${quote(name)} is changed, but is not in the list`;
  for (const name of stringsIn(removed))
    if (!before.names.has(name)) yield `${quote(name)} is removed, but is not in the list`;
}

/** A rule about the fields of each skill; `fault` returns what is wrong with a skill, if anything. */
function fieldRule(
  id: string,
  title: string,
  origin: RuleOrigin,
  fault: (skill: JsonObject) => string | undefined,
): Omit<ConformanceRule, "severity" | "appliesTo"> {
  return {
    ...{ id, title, ...origin },
    check: each(sentSkills, function* ({ skill, where }) {
      const fields = fieldsOf(skill);
      const found = fields && fault(fields);
      if (found !== undefined) yield `${where}: ${found}`;
    }),
  };
}

/** A fault of a field that may be absent. */
function optional(name: string, isRight: (value: unknown) => boolean, expected: string) {
  return ({ [name]: value }: JsonObject): string | undefined =>
    value === undefined || value === null || isRight(value)
      ? undefined
      : `${name} is ${quote(value)}; it must be ${expected}`;
}

function tooLong(name: string, text: string, limit: number, shown = String(limit)): string | undefined {
  // In characters, as the RFD counts: code points.
  const { length } = Array.from(text);
  return length > limit ? `${name} is ${length} characters long; the limit is ${shown}` : undefined;
}

const known = new Set(["name", "description", "license", "compatibility", "metadata", "allowedTools", "_meta"]);

/** Rules about each field of a skill, from the RFD's table. */
export const skillFieldRules = defineRules([
  fieldRule(
    "skill-name",
    "A skill's name has the RFD's form",
    documents.rfdTable(
      "name: Max 64 characters. Lowercase letters, numbers, and hyphens only. Must not start or end with a hyphen. No consecutive hyphens.",
    ),
    ({ name }) => {
      if (!isString(name)) return `name is ${quote(name)}; it must be a string`;
      const form = `name ${quote(name)} must consist of lowercase letters, digits and single hyphens between them`;
      return tooLong("name", name, 64) ?? (/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? undefined : form);
    },
  ),
  fieldRule(
    "skill-description",
    "A skill has a description of at most 1,024 characters",
    documents.rfdTable("description: Max 1024 characters. Non-empty."),
    ({ description }) => {
      if (!isString(description)) return `description is ${quote(description)}; it must be a string`;
      return description.trim() === "" ? "description is empty" : tooLong("description", description, 1024, "1,024");
    },
  ),
  fieldRule(
    "skill-license",
    "A license is a string",
    documents.rfdTable("license: License name or reference to a bundled license file"),
    optional("license", isString, "a string"),
  ),
  fieldRule(
    "skill-compatibility",
    "Compatibility is a string of at most 500 characters",
    documents.rfdTable("compatibility: Max 500 characters. Indicates environment requirements"),
    (skill) => {
      const { compatibility } = skill;
      if (isString(compatibility)) return tooLong("compatibility", compatibility, 500);
      return optional("compatibility", isString, "a string")(skill);
    },
  ),
  fieldRule(
    "skill-allowed-tools",
    "allowedTools is an array of strings",
    documents.rfdTable("allowedTools: Array of pre-approved tools the skill may use (Experimental)."),
    optional("allowedTools", isStrings, "an array of strings"),
  ),
  fieldRule(
    "skill-metadata",
    "Metadata maps strings to strings",
    documents.rfdTable("metadata: Arbitrary string key-value mapping for additional properties."),
    (skill) => {
      const fields = fieldsOf(skill["metadata"]);
      if (fields === undefined) return optional("metadata", () => false, "an object")(skill);
      const [key, value] = Object.entries(fields).find(([, one]) => !isString(one)) ?? [];
      return key === undefined ? undefined : `metadata.${key} is ${quote(value)}; it must be a string`;
    },
  ),
  fieldRule(
    "skill-meta",
    "_meta is an object",
    documents.rfdTable("_meta: Standard extensibility field, we can put metadata from the skills spec"),
    optional("_meta", (value) => fieldsOf(value) !== undefined, "an object"),
  ),
  fieldRule(
    "skill-custom-fields",
    "Custom fields of a skill stand in _meta",
    documents.extensibility(noCustomFields),
    (skill) => {
      const custom = Object.keys(skill).find((key) => !known.has(key));
      return custom === undefined ? undefined : `${quote(custom)} is no field of a skill; put it into _meta`;
    },
  ),
]);
