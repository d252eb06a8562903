import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createSkillsStore, type SkillsStore } from "../../../src/client/store/skills-store.ts";

const folder = new URL("../../fixtures/transcripts/", import.meta.url);

function replay(name: string): SkillsStore {
  const store = createSkillsStore();
  for (const line of readFileSync(new URL(`${name}.ndjson`, folder), "utf8")
    .trimEnd()
    .split("\n"))
    store.receive(JSON.parse(line));
  return store;
}

const pdf = { name: "pdf", description: "Reads PDF files.", agent: "agent", sessionId: "s1" };
const csv = { ...pdf, name: "csv", description: "Reads CSV files." };
const listed = { license: "MIT", compatibility: "Needs git.", allowedTools: ["Read"] };

/** What each agent sent, and the commands that are not known to be skills. */
const told: Record<string, [skills: object[], commands: string[]]> = {
  "rfd-update": [
    [
      { ...pdf, ...listed, form: "available_skills_update" },
      { ...csv, form: "available_skills_update" },
    ],
    [],
  ],
  "rfd-flat": [
    [
      { ...pdf, ...listed, form: "flat_available_skills_update" },
      { ...csv, form: "flat_available_skills_update" },
    ],
    [],
  ],
  "extension-update": [
    [
      { ...pdf, ...listed, form: "_available_skills_update" },
      { ...csv, form: "_available_skills_update" },
    ],
    [],
  ],
  "acp-skills-deltas": [
    [
      { ...csv, description: "Reads and writes CSV files.", form: "_acp-skills/skills_update" },
      { ...pdf, name: "xml", description: "Reads XML files.", form: "_acp-skills/skills_update" },
    ],
    [],
  ],
  "acp-skills-commands": [
    [
      { ...csv, form: "acp-skills-command", command: "$csv", source: "/home/me/.agents/skills" },
      { ...pdf, form: "acp-skills-command", command: "pdf", license: "MIT", version: "1.2.0", state: "blocked" },
    ],
    ["init"],
  ],
  "air-commands": [
    [{ ...pdf, form: "air-command", command: "$pdf", file: "/project/.agents/skills/pdf/SKILL.md" }],
    ["mcp"],
  ],
  "qwen-code": [
    [
      { ...pdf, name: "review", description: "Reviews code.", form: "qwen-skills", command: "review" },
      {
        ...pdf,
        name: "bugfix",
        description: "Fixes bugs.",
        form: "qwen-skills",
        file: "/home/me/.qwen/skills/bugfix/SKILL.md",
      },
    ],
    ["help"],
  ],
  yolop: [
    [
      { ...pdf, name: "release", description: "Prepares a release.", form: "yolop-command", command: "release" },
      { ...pdf, name: "ship", description: "Ships a change.", form: "yolop-command", command: "ship" },
    ],
    ["setup"],
  ],
  "codex-named-commands": [
    [
      { ...pdf, name: "go", description: "Writes Go.", form: "named-command", command: "$go" },
      { ...pdf, name: "ui-ux", description: "Designs.", form: "named-command", command: "skills:ui-ux" },
    ],
    ["review"],
  ],
  "plain-commands": [[], ["compact", "pdf"]],
};

test("has an expectation for every transcript", () => {
  const names = readdirSync(folder).flatMap((file) => (file.endsWith(".ndjson") ? [file.replace(".ndjson", "")] : []));
  expect(names.sort()).toEqual(Object.keys(told).sort());
});

test.each(Object.entries(told))("reads %s", (name, [skills, commands]) => {
  const store = replay(name);
  expect(store.skills).toMatchObject(skills);
  expect(store.skills).toHaveLength(skills.length);
  expect(store.sessions).toHaveLength(1);
  expect(store.sessions[0]?.commands.map((command) => command.name)).toEqual(commands);
  expect(store.problems).toEqual([]);
});

test("reads what the agent advertises, and how many problems it has", () => {
  const { capabilities, sessions } = replay("acp-skills-deltas");
  expect(capabilities).toMatchObject([
    { agent: "agent", name: "scripted", protocolVersion: 1, advertisement: { version: "9.9.9" } },
  ]);
  expect(sessions[0]?.counts).toEqual({ errors: 1, warnings: 2 });
});
