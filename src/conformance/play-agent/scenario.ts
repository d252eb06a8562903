import { commandsNotification, type Notification, skillsDelta, skillsMessage } from "../../acp/emission.ts";
import type { Forms } from "../../acp/negotiation.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import { toCommandFacts } from "../../wire/command-facts.ts";
import { availableCommandsUpdate, availableSkillsUpdate, metaKey, sessionUpdate } from "../../wire/methods.ts";

/** One thing that the played agent does, and that a client has to survive. */
export interface ScenarioStep {
  /** What was sent, as the end of "after …". */
  readonly name: string;
  /** Messages; a string is written as it is. */
  readonly messages: readonly (object | string)[];
}

export interface ScenarioOptions {
  readonly sessionId: string;
  readonly protocol: 1 | 2;
  /** The forms that the client understands, by what it declared. */
  readonly forms: Forms;
}

/** The steps of one session: skills in the forms that the client declared, changes, bad entries and nonsense. Pure. */
export function* scenario({ sessionId, protocol, forms }: ScenarioOptions): Generator<ScenarioStep> {
  let before: readonly AvailableSkill[] = [];
  let revision = 0;
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
    if (forms.commands) messages.push(commandsNotification(sessionId, toCommands(after, protocol), after.length));
    before = after;
    return messages;
  };
  const update = (fields: object): object => ({
    jsonrpc: "2.0",
    method: sessionUpdate,
    params: { sessionId, update: fields },
  });
  const first = [skill("code-review", "Reviews staged changes."), skill("test-generator", "Generates unit tests.")];
  const [review] = first;

  yield { name: "a list of two skills", messages: announce(first) };
  yield {
    name: "an edited skill",
    messages: announce(first.map((one) => ({ ...one, description: `${one.description} Edited.` }))),
  };
  yield {
    name: "an added and a removed skill",
    messages: announce([...before.slice(1), skill("release-notes", "Writes release notes.")]),
  };
  yield {
    name: "texts in several scripts and directions",
    messages: announce([...before, skill("texts", strangeText)]),
  };
  yield {
    name: "a list of 1,000 skills",
    messages: announce(Array.from({ length: 1000 }, (_, n) => skill(`skill-${n}`, `Does ${n}.`))),
  };
  yield { name: "the same list again", messages: announce(before) };
  yield { name: "entries that are no valid skills", messages: badLists(forms, update, review) };
  yield { name: "a list that is no array", messages: nonsenseLists(forms, update) };
  yield { name: "an update without its kind", messages: [update({ availableSkills: [] })] };
  yield {
    name: "an update of an unknown kind",
    messages: [update({ sessionUpdate: "_acp-skills_conformance", anything: [1] })],
  };
  yield {
    name: "the RFD's flat sample",
    messages: [
      {
        jsonrpc: "2.0",
        method: sessionUpdate,
        params: { sessionId, sessionUpdate: availableSkillsUpdate, availableSkills: first },
      },
    ],
  };
  yield {
    name: "an update of an unknown session",
    messages: [commandsNotification("no-such-session", toCommands(first, protocol), first.length)],
  };
  yield {
    name: "an unknown notification",
    messages: [{ jsonrpc: "2.0", method: "_acp-skills/conformance", params: { sessionId } }],
  };
  yield { name: "a line that is not JSON", messages: ["This line is not JSON."] };
  yield { name: "a list of one skill", messages: announce(first.slice(0, 1)) };
  yield { name: "an empty list", messages: announce([]) };
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

/** One good skill among entries that break the RFD's table. */
function badLists(forms: Forms, update: (fields: object) => object, good: AvailableSkill | undefined): object[] {
  const description = "Valid.";
  const entries: unknown[] = [
    good,
    ...[null, 7, "code-review", [], {}],
    ...["", "-a", "a--b", "UPPER", "ünïcode", "x".repeat(65), 7].map((name) => ({ name, description })),
    ...["", " \n", "d".repeat(1025), null].map((text) => ({ name: "described", description: text })),
    { name: "typed", description, license: 1, compatibility: "c".repeat(501), allowedTools: "Read", _meta: [] },
    good,
  ];
  return inForms(forms, update, entries);
}

function nonsenseLists(forms: Forms, update: (fields: object) => object): object[] {
  return [null, {}, "skills", 7].flatMap((list) => inForms(forms, update, list));
}

function inForms({ skills, commands }: Forms, update: (fields: object) => object, list: unknown): object[] {
  return [
    ...(skills === undefined
      ? []
      : [{ ...update({ sessionUpdate: skills.kind, availableSkills: list }), method: skills.method }]),
    ...(commands ? [update({ sessionUpdate: availableCommandsUpdate, availableCommands: list })] : []),
  ];
}
