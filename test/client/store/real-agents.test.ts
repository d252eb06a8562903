import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createSkillsStore, type SkillsStore } from "../../../src/client/store/skills-store.ts";
import type { StoredSkill } from "../../../src/client/forms/notification.ts";

const folder = new URL("../../../schema/conformance/", import.meta.url);
const all = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ndjson"))
  .map((file) => file.replaceAll("\\", "/"))
  .sort();

interface Line {
  readonly from: "client" | "agent";
  readonly message?: unknown;
  readonly text?: string;
}

/** Replays both sides of a transcript, and calls `look` with the store after each change. */
function replay(file: string, look: (store: SkillsStore) => void = () => undefined): SkillsStore {
  const store = createSkillsStore();
  store.subscribe(() => {
    look(store);
  });
  for (const line of readFileSync(new URL(file, folder), "utf8").trimEnd().split("\n")) {
    const { from, message, text } = JSON.parse(line) as Line;
    if (from === "agent") store.receive(message ?? text);
    else store.sent(message ?? text);
  }
  return store;
}

const fixture = "conformance-fixture";

/** Whether the text is the first or the edited one, where the skill is, in which form it was sent, and its command. */
function describeSkill({ description, source, form, command }: StoredSkill): string {
  const [text] = description.split(" ");
  return `${text} ${source ?? "-"} ${form} ${command ?? "-"}`;
}

/** The states of the fixture's skill, as long as its session is open; `none` if there is no such skill. */
function statesIn(file: string): readonly string[] {
  const states: string[] = [];
  replay(file, ({ sessions, skills }) => {
    if (sessions.length === 0) return;
    const skill = skills.find(({ name }) => name === fixture);
    const state = skill === undefined ? "none" : describeSkill(skill);
    if (state !== states.at(-1)) states.push(state);
  });
  return states;
}

const [agents, claude] = ["/project/.agents/skills", "/project/.claude/skills"];

/** The skill is written, edited, removed from the first directory, then from the second. */
const edits = (form: string, command: string): string[] => [
  `Written ${agents} ${form} ${command}`,
  `Edited ${agents} ${form} ${command}`,
  `Edited ${claude} ${form} ${command}`,
];
const optedIn = [
  `Written ${agents} acp-skills-command ${fixture}`,
  ...edits("available_skills_update", fixture),
  `Edited ${claude} acp-skills-command ${fixture}`,
  "none",
];
/** An editor that says nothing about skills gets commands, which say nothing about them either. */
const plain = ["none"];
/** The editor declined commands: the list itself says which there are. */
const declined = ["none", ...edits("_acp-skills/skills_update", fixture), "none"];
/** Codex finds the skill itself, and lists it as `$name`. */
const [before, after] = [`Written - named-command $${fixture}`, `Edited - named-command $${fixture}`];
const codexTold = (form: string): string[] => edits(form, `$${fixture}`);
const lastOfCodex = `Edited ${claude} acp-skills-command $${fixture}`;
const entries = (command: string): string[] => [
  `Written - skill-entry ${command}`,
  `Edited - skill-entry ${command}`,
  "none",
];

const states: Readonly<Record<string, readonly string[]>> = {
  "advertised-is-sent/pass-wrapped-claude.ndjson": optedIn,
  "advertised-is-sent/pass-wrapped-codex.ndjson": [
    `Written ${agents} acp-skills-command $${fixture}`,
    ...codexTold("available_skills_update"),
    lastOfCodex,
    "none",
  ],
  "advertised-is-sent/pass-wrapped-gemini-cli.ndjson": optedIn,
  "advertised-is-sent/pass-wrapped-opencode.ndjson": optedIn,
  "deltas-apply/pass-wrapped-claude.ndjson": declined,
  // Where commands are not ours to change, its command stays when the skill is gone.
  "deltas-apply/pass-wrapped-codex.ndjson": [before, ...codexTold("_acp-skills/skills_update"), after],
  "deltas-apply/pass-wrapped-gemini-cli.ndjson": declined,
  "deltas-apply/pass-wrapped-opencode.ndjson": declined,
  "skill-entries-advertised/pass-wrapped-claude.ndjson": entries(fixture),
  "skill-entries-advertised/pass-wrapped-codex.ndjson": entries(`$${fixture}`),
  "v1-kinds/pass-wrapped-claude.ndjson": plain,
  "v1-kinds/pass-wrapped-codex.ndjson": [before, after, "none"],
  "v1-kinds/pass-wrapped-gemini-cli.ndjson": plain,
  "v1-kinds/pass-wrapped-opencode.ndjson": plain,
  "v2-kinds/pass-wrapped-claude.ndjson": plain,
  "v2-kinds/pass-wrapped-codex.ndjson": [before, after, "none"],
};

interface RealAgent {
  readonly name: string;
  /** Skills of its own. */
  readonly skills: readonly string[];
  /** Commands that are no skills: how many there are at first, and some of them. */
  readonly commands: number;
  readonly some: readonly string[];
  /** Whether it can close sessions. */
  readonly closes: boolean;
}

const realAgents: Readonly<Record<string, RealAgent>> = {
  claude: {
    name: "@agentclientprotocol/claude-agent-acp",
    ...{ skills: [], commands: 44, some: ["compact", "code-review", "mcp"], closes: true },
  },
  codex: {
    name: "@agentclientprotocol/codex-acp",
    skills: ["imagegen", "openai-docs", "review-agent", "skill-creator", "skill-installer"],
    ...{ commands: 11, some: ["plan", "review", "logout"], closes: true },
  },
  "gemini-cli": {
    name: "gemini-cli",
    ...{ skills: [], commands: 20, some: ["memory show", "about"], closes: false },
  },
  opencode: { name: "OpenCode", ...{ skills: [], commands: 3, some: ["init", "review"], closes: true } },
};

const real = all.filter((file) => Object.keys(realAgents).some((agent) => file.endsWith(`-wrapped-${agent}.ndjson`)));

describe("transcripts of real agents", () => {
  test("each has an expectation", () => {
    expect(real).toEqual(Object.keys(states));
  });

  test.each(real)("every change of the skill is seen: %s", (file) => {
    expect(statesIn(file)).toEqual(states[file]);
  });

  test.each(real)("the agent's commands, its own skills and what it can do are known: %s", (file) => {
    const agent = realAgents[/-wrapped-(.*)\.ndjson$/.exec(file)?.[1] ?? ""];
    const own = new Set<string>();
    const lists: (readonly string[])[] = [];
    const store = replay(file, ({ sessions, skills, problems: found }) => {
      expect(found).toEqual([]);
      for (const { name } of skills) own.add(name);
      for (const { commands } of sessions)
        if (commands.length > 0) lists.push(commands.flatMap(({ name }) => (name === fixture ? [] : [name])));
    });
    own.delete(fixture);
    expect([...own]).toEqual(agent?.skills);
    expect(lists[0]).toHaveLength(agent?.commands ?? -1);
    expect(lists[0]).toEqual(expect.arrayContaining([...(agent?.some ?? [])]));
    expect(store.capabilities).toMatchObject([
      {
        name: agent?.name,
        protocolVersion: /^(?:v2-|skill-entries-)/.test(file) ? 2 : 1,
        advertisement: { version: expect.stringMatching(/^\d/) as string },
      },
    ]);
    expect(store.capabilities[0]?.advertisement?.tools).toHaveLength(8);
    expect(store.sessions).toHaveLength(agent?.closes === true ? 0 : 1);
  });
});

/** What the store finds wrong by itself; rules about order and about opting in are not for an editor to check. */
const problems: Readonly<Record<string, string>> = {
  "command-facts": "INVALID_SKILL",
  "deltas-apply": "MISSED_UPDATE",
  "deltas-asked-for": "MISSED_UPDATE",
  "list-present": "INVALID_UPDATE",
  "skill-allowed-tools": "INVALID_SKILL",
  "skill-compatibility": "INVALID_SKILL",
  "skill-description": "INVALID_SKILL",
  "skill-license": "INVALID_SKILL",
  "skill-listed-once": "DUPLICATE_SKILL",
  "skill-meta": "INVALID_SKILL",
  "skill-name": "INVALID_SKILL",
  "skill-names-unique": "DUPLICATE_SKILL",
};

test.each(all)("never throws, and reports what an editor can see to be wrong: %s", (file) => {
  const [rule = "", name = ""] = file.split("/");
  const codes = new Set<string>();
  replay(file, (store) => {
    for (const { code } of store.problems) codes.add(code);
  });
  const expected = name.startsWith("fail-") ? problems[rule] : undefined;
  expect([...codes]).toEqual(expected === undefined ? [] : [expected]);
});
