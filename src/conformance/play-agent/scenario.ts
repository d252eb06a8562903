import { commandsNotification, type Notification, skillsDelta, skillsMessage } from "../../acp/emission.ts";
import type { Forms } from "../../acp/negotiation.ts";
import { fieldsOf } from "../../client/json.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { toCommandFacts } from "../../wire/command-facts.ts";
import { type PlayedState, toSessionUpdate } from "./answer-client.ts";
import { availableCommandsUpdate, availableSkillsUpdate, metaKey, sessionUpdate } from "../../wire/methods.ts";

/** One step of the played agent, which a client has to survive. */
export interface ScenarioStep {
  /** The name of the messages, as the end of "after …". */
  readonly name: string;
  /** Messages; a string is written unchanged. */
  readonly messages: readonly (object | string)[];
}

/** The steps of one session: skills in the forms that the client declared, changes, bad entries and nonsense. Pure. */
export function* scenario(sessionId: string, { protocol, forms }: PlayedState): Generator<ScenarioStep> {
  let before: readonly AvailableSkill[] = [];
  let revision = 0;
  const entries = forms.commands === "skill";
  const announce = (after: readonly AvailableSkill[]): Notification[] => {
    const { skills } = forms;
    const messages: Notification[] = [];
    revision++;
    if (skills !== undefined)
      messages.push(
        skills.deltas && revision > 1
          ? skillsDelta(sessionId, skills, revision, { before, after })
          : skillsMessage(sessionId, skills, revision, after),
      );
    if (forms.commands !== undefined)
      messages.push(
        commandsNotification(sessionId, entries ? after.map(toEntry) : toCommands(after, protocol), after.length),
      );
    before = after;
    return messages;
  };
  const update = (fields: object): object => toSessionUpdate(sessionId, fields);
  const first = [skill("code-review", "Reviews staged changes."), skill("test-generator", "Generates unit tests.")];
  const [review] = first;

  const step = (name: string, messages: ScenarioStep["messages"]): ScenarioStep => ({ name, messages });
  const many = Array.from({ length: 1000 }, (_, n) => skill(`skill-${n}`, `Does ${n}.`));
  const flat = { sessionId, sessionUpdate: availableSkillsUpdate, availableSkills: first };
  const edited = first.map((one) => ({ ...one, description: `${one.description} Edited.` }));

  yield step("a list of two skills", announce(first));
  yield step("an edited skill", announce(edited));
  yield step(
    "an added and a removed skill",
    announce([...edited.slice(1), skill("release-notes", "Writes release notes.")]),
  );
  yield step("texts in several scripts and directions", announce([...before, skill("texts", strangeText)]));
  yield step("a list of 1,000 skills", announce(many));
  yield step("the same list again", announce(many));
  const bad = entries ? badEntries(review && toEntry(review)).map(toTyped) : badEntries(review);
  yield step("entries that are no valid skills", inForms(forms, update, bad));
  yield step(
    "a list that is no array",
    [null, {}, "skills", 7].flatMap((list) => inForms(forms, update, list)),
  );
  yield step("an update without its kind", [update({ availableSkills: [] })]);
  yield step("an update of an unknown kind", [update({ sessionUpdate: "_acp-skills_conformance", anything: [1] })]);
  yield step("the RFD's flat sample", [{ jsonrpc: "2.0", method: sessionUpdate, params: flat }]);
  yield step("an update of an unknown session", [
    commandsNotification("no-such-session", toCommands(first, protocol), first.length),
  ]);
  yield step("an unknown notification", [{ jsonrpc: "2.0", method: "_acp-skills/conformance", params: { sessionId } }]);
  yield step("a line that is not JSON", ["This line is not JSON."]);
  yield step("a list of one skill", announce(first.slice(0, 1)));
  yield step("an empty list", announce([]));
}

function skill(name: string, description: string): AvailableSkill {
  const _meta = {
    [metaKey]: {
      name,
      version: "1.0.0",
      kind: "instruction" as const,
      namespace: name,
      source: "/project/.agents/skills",
    },
  };
  return { name, description, license: "MIT", allowedTools: ["Read", "Bash(git:*)"], _meta };
}

const strangeText = "Ünïcödé, 漢字, עברית, \u202edesrever\u202c, <b>bold</b>, \u001b[31mred\u001b[0m, 🧪, a\u0000b";

function toCommands(skills: readonly AvailableSkill[], protocol: 1 | 2): readonly object[] {
  return skills.map((one) => {
    const { name, description } = one;
    const hint = "what to do";
    return {
      ...(protocol === 2 && { type: "command" }),
      ...{ name, description, input: protocol === 2 ? { type: "text", hint } : { hint } },
      _meta: { [metaKey]: toCommandFacts(one, { name, description }) },
    };
  });
}

/** A skill as an entry of its own type. */
function toEntry({ name, description, _meta }: AvailableSkill): object {
  return { type: "skill", name, description, path: `/project/.agents/skills/${name}/SKILL.md`, _meta };
}

function toTyped(value: unknown): unknown {
  const fields = fieldsOf(value);
  return fields === undefined ? value : { ...fields, type: "skill" };
}

/** One good skill among entries that break the RFD's table. */
function badEntries(good: object | undefined): readonly unknown[] {
  const description = "Valid.";
  return [
    good,
    ...[null, 7, "code-review", [], {}],
    ...["", "-a", "a--b", "two words", "UPPER", "ünïcode", "x".repeat(65), 7].map((name) => ({ name, description })),
    ...["", " \n", "d".repeat(1025), null].map((text) => ({ name: "described", description: text })),
    { name: "typed", description, license: 1, compatibility: "c".repeat(501), allowedTools: "Read", _meta: [] },
    { name: "placed", description, path: "placed/SKILL.md" },
    good,
  ];
}

function inForms({ skills, commands }: Forms, update: (fields: object) => object, list: unknown): object[] {
  return [
    ...(skills === undefined
      ? []
      : [{ ...update({ sessionUpdate: skills.kind, availableSkills: list }), method: skills.method }]),
    ...(commands !== undefined ? [update({ sessionUpdate: availableCommandsUpdate, availableCommands: list })] : []),
  ];
}
