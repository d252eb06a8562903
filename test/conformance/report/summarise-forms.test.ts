import { expect, test } from "vitest";
import { readExchange } from "../../../src/conformance/exchange.ts";
import { summariseForms } from "../../../src/conformance/report/summarise-forms.ts";
import { toTranscriptEntry } from "../../../src/conformance/transcript.ts";

interface Sent {
  readonly method?: string;
  readonly update: object;
  readonly _meta?: object;
}

/** The forms as `name (most, updates) at line`. */
function formsOf(...sent: readonly Sent[]): string[] {
  const lines = sent.map(({ method = "session/update", update, _meta }) =>
    JSON.stringify({ jsonrpc: "2.0", method, params: { sessionId: "s", update, _meta } }),
  );
  const exchange = readExchange(lines.map((line, index) => toTranscriptEntry(index + 1, "agent", line)));
  return summariseForms(exchange).map(({ form, most, updates, line }) => `${form} (${most}, ${updates}) at ${line}`);
}

const pdf = { name: "pdf", description: "Reads PDF files." };
const commands = (...availableCommands: object[]): Sent => ({
  update: { sessionUpdate: "available_commands_update", availableCommands },
});

test("counts the skills that the client library reads, not those that are invalid", () => {
  const list = (...availableSkills: unknown[]): Sent => ({
    update: { sessionUpdate: "available_skills_update", availableSkills },
  });
  expect(formsOf(list(pdf, { ...pdf, name: "csv" }, { name: "Bad" }, null), list(pdf))).toEqual([
    "available_skills_update (2, 2) at 1",
  ]);
  expect(formsOf({ update: { sessionUpdate: "available_skills_update", availableSkills: {} } })).toEqual([
    "available_skills_update (0, 1) at 1",
  ]);
});

test("names changes, and the method of our notification", () => {
  const update = { sessionUpdate: "available_skills_update" };
  const method = "_acp-skills/skills_update";
  const delta = { ...update, revision: 2, added: [pdf], changed: [], removed: ["csv"] };
  expect(formsOf({ method, update: { ...update, availableSkills: [] } }, { method, update: delta })).toEqual([
    `${method} (0, 1) at 1`,
    `changes in ${method} (1, 1) at 2`,
  ]);
});

test("names every mark that a command has", () => {
  const air = { jetbrains: { air: { skillPath: "/pdf/SKILL.md" } } };
  const ours = { "acp-skills": { source: "/skills" } };
  const marked = { ...pdf, name: "$pdf", _meta: { ...air, ...ours } };
  const nested = { name: "ship", description: "", _meta: { "yolop.dev/command": { source: "skill" } } };
  expect(formsOf(commands(marked, nested, { name: "skills:go", description: "" }, { name: "plan" }))).toEqual([
    'commands with _meta["acp-skills"] (1, 1) at 1',
    "commands with _meta.jetbrains.air (1, 1) at 1",
    'commands with _meta["yolop.dev/command"] (1, 1) at 1',
    "commands named $… or skill:… (2, 1) at 1",
    "plain commands (1, 1) at 1",
  ]);
});

test("knows the list of names beside the commands, wherever it stands", () => {
  const help = { name: "help", description: "Helps." };
  const names = { availableSkills: ["pdf"] };
  const list = commands(pdf, help);
  const expected = ["_meta.availableSkills of a list of commands (1, 1) at 1", "plain commands (1, 1) at 1"];
  expect(formsOf({ ...list, _meta: names })).toEqual(expected);
  expect(formsOf({ update: { ...list.update, _meta: names } })).toEqual(expected);
});

test("leaves out what names no session, and what is no update", () => {
  const lines = [null, [], { update: {} }, { sessionId: 7, update: { sessionUpdate: "available_skills_update" } }];
  const entries = lines.map((params, index) =>
    toTranscriptEntry(index + 1, "agent", JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })),
  );
  expect(summariseForms(readExchange(entries))).toEqual([]);
});
