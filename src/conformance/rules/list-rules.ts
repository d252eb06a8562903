import { fieldsOf, isStrings } from "../../client/json.ts";
import { isSkillsKind } from "../../client/skills-update.ts";
import { availableCommandsUpdate } from "../../wire/methods.ts";
import type { RecordedUpdate } from "../exchange.ts";
import { documents, quote, defineRules } from "../rule.ts";
import { arrayIn, deltaFields, isDelta, stringsIn, sentSkills, skillUpdates } from "./skill-lists.ts";

/** How a list of skills arrives: when, nested, whole, and its changes. */
export const listRules = defineRules([
  {
    id: "session-known-first",
    title: "No list is sent before the client knows the session",
    severity: "error",
    appliesTo: "agent",
    source: {
      ...documents.own,
      sentence:
        "A list names a session only after the response that created it, because editors drop what comes earlier.",
    },
    check: function* ({ updates, sessions }) {
      for (const { line, sessionId, kind } of updates) {
        if (!isSkillsKind(kind) && kind !== availableCommandsUpdate) continue;
        const known = sessions.get(sessionId)?.known;
        if (known === undefined)
          yield { line, message: `${kind} names the session ${quote(sessionId)}, which the client does not know` };
        else if (line < known)
          yield { line, message: `${kind} arrives before the response on line ${known} that names its session` };
      }
    },
  },
  {
    id: "update-nested",
    title: "The update is nested in params.update",
    severity: "error",
    appliesTo: "agent",
    source: {
      ...documents.own,
      sentence:
        "The update is nested in params.update, as every update of ACP is: clients refuse the flat sample of the RFD.",
    },
    check: function* ({ updates }) {
      for (const { line, kind, isFlat } of updates)
        if (isFlat)
          yield { line, message: `sessionUpdate ${quote(kind)} stands in params itself; put it into params.update` };
    },
  },
  {
    id: "list-present",
    title: "An update has an array of skills",
    severity: "error",
    appliesTo: "agent",
    source: { ...documents.rfdPlan, sentence: "availableSkills: Required array of AvailableSkill" },
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
    severity: "error",
    appliesTo: "agent",
    source: { ...documents.own, sentence: "Names are unique in a list, because people invoke skills by name." },
    check: function* (exchange) {
      for (const { line, update } of skillUpdates(exchange)) {
        const seen = new Set<unknown>();
        for (const skill of arrayIn(update["availableSkills"])) {
          const name = fieldsOf(skill)?.["name"];
          if (typeof name === "string" && seen.has(name))
            yield { line, message: `${quote(name)} is in the list more than once` };
          seen.add(name);
        }
      }
    },
  },
  {
    id: "deltas-asked-for",
    title: "Changes are sent only to a client that asked for them",
    severity: "error",
    appliesTo: "agent",
    source: { ...documents.own, sentence: "Changes alone are sent only to a client that opted in with deltas: true." },
    check: function* (exchange) {
      if (exchange.negotiation?.optIn?.deltas === true) return;
      for (const update of skillUpdates(exchange))
        if (isDelta(update))
          yield {
            line: update.line,
            message: "only changes are sent, but the client did not ask for deltas; send the whole list",
          };
    },
  },
  {
    id: "deltas-apply",
    title: "Changes apply to the list before them",
    severity: "error",
    appliesTo: "agent",
    source: {
      ...documents.own,
      sentence:
        "Changes {revision, added, changed, removed} follow a whole list of the session, apply to it, and count revisions up by one; removed holds names.",
    },
    check: function* (exchange) {
      const lists = new Map<string, { names: Set<unknown>; revision: unknown }>();
      for (const update of skillUpdates(exchange)) {
        const { line, sessionId, update: fields } = update;
        const { revision, removed } = fields;
        if (!isDelta(update)) {
          lists.set(sessionId, { names: new Set(arrayIn(fields["availableSkills"]).map(nameOf)), revision });
          continue;
        }
        const before = lists.get(sessionId);
        if (before === undefined) {
          yield { line, message: "changes arrive before the first whole list of the session" };
          continue;
        }
        for (const message of faultsOfDelta(update, before)) yield { line, message };
        for (const skill of arrayIn(fields["added"])) before.names.add(nameOf(skill));
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
  for (const name of arrayIn(update["added"]).map(nameOf))
    if (before.names.has(name)) yield `${quote(name)} is added, but is in the list already`;
  for (const name of arrayIn(update["changed"]).map(nameOf))
    if (!before.names.has(name)) yield `${quote(name)} is changed, but is not in the list`;
  for (const name of stringsIn(removed))
    if (!before.names.has(name)) yield `${quote(name)} is removed, but is not in the list`;
}
