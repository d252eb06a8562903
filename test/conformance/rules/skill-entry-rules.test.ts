import { expect, test } from "vitest";
import { checkTranscript, makeReport } from "../../../src/conformance/report.ts";
import { toTranscriptEntry } from "../../../src/conformance/transcript.ts";

type Sent = readonly [from: "client" | "agent", message: object];

const request = (id: number, method: string, params: object): Sent => ["client", { id, method, params }];
const answer = (id: number, fields: object): Sent => ["agent", { id, ...fields }];
const list = (...availableCommands: object[]): Sent => {
  const update = { sessionUpdate: "available_commands_update", availableCommands };
  return ["agent", { method: "session/update", params: { sessionId: "s", update } }];
};
const entry = { type: "skill", name: "pdf", description: "Reads PDF files.", path: "/skills/pdf/SKILL.md" };
const invoke = (id: number, name: unknown): Sent =>
  request(id, "session/prompt", { sessionId: "s", prompt: [{ type: "skill", name }] });
const refused = { error: { code: -32602, message: "Invalid params" } };

/** A session of a client and an agent that declared skill entries and blocks. */
const opened = (protocolVersion = 2, skill: object | null = {}): readonly Sent[] => [
  request(1, "initialize", { protocolVersion, capabilities: { session: { commands: { skill: {} } } } }),
  answer(1, { result: { protocolVersion, capabilities: { session: { prompt: { skill } } } } }),
  request(2, "session/new", { cwd: "/project", mcpServers: [] }),
  answer(2, { result: { sessionId: "s" } }),
];
const entriesOf = (sent: readonly Sent[]) =>
  sent.map(([from, message], index) =>
    toTranscriptEntry(index + 1, from, JSON.stringify({ jsonrpc: "2.0", ...message })),
  );
const broken = (...sent: readonly Sent[]): string[] =>
  checkTranscript(entriesOf(sent)).map(({ rule, line }) => `${rule} ${line}`);

test("a skill that a list took away while the prompt was on its way may be named, and refused or not", () => {
  for (const outcome of [refused, { result: {} }])
    expect(broken(...opened(), list(entry), invoke(3, "pdf"), list(), answer(3, outcome))).toEqual([]);
  expect(broken(...opened(), list(entry), list(), invoke(3, "pdf"), answer(3, refused))).toEqual([]);
});

test("a client that has written after a list knows it", () => {
  const sent = [...opened(), list(entry), list(), request(3, "session/set_mode", {}), answer(3, { result: {} })];
  expect(broken(...sent, invoke(4, "pdf"), answer(4, refused))).toEqual(["client-skill-blocks-listed 9"]);
});

test("a listed skill may be refused for authentication or when cancelled, and a name that is null or absent may not be accepted", () => {
  const outcomeOf = (name: unknown, outcome: object): string[] =>
    broken(...opened(), list(entry), invoke(3, name), answer(3, outcome)).filter((one) => !one.startsWith("client-"));
  expect(outcomeOf("pdf", { error: { code: -32000, message: "Authentication required" } })).toEqual([]);
  expect(outcomeOf("pdf", { error: { code: -32800, message: "Cancelled" } })).toEqual([]);
  expect(outcomeOf("pdf", { error: { code: -32603, message: "Internal error" } })).toEqual(["listed-skill-accepted 7"]);
  expect(outcomeOf(null, { result: {} })).toEqual(["unknown-skill-refused 7"]);
  expect(outcomeOf(undefined, { result: {} })).toEqual(["unknown-skill-refused 7"]);
});

test("a second block needs inline, and an agent that advertised null takes none", () => {
  const two = [entry.name, entry.name].map((name) => ({ type: "skill", name }));
  const prompt = [request(3, "session/prompt", { sessionId: "s", prompt: two }), answer(3, { result: {} })];
  expect(broken(...opened(), list(entry), ...prompt)).toEqual(["client-skill-blocks-allowed 6"]);
  expect(broken(...opened(2, { inline: null }), list(entry), ...prompt)).toEqual(["client-skill-blocks-allowed 6"]);
  expect(broken(...opened(2, { inline: {} }), list(entry), ...prompt)).toEqual([]);
  expect(broken(...opened(2, null), list(entry), ...prompt)).toEqual([
    "skill-entries-advertised 5",
    "client-skill-blocks-allowed 6",
  ]);
});

test("paths of Windows are absolute, null is no path, and in v1 nothing is said of entries", () => {
  const relative = { ...entry, name: "tables", path: "tables/SKILL.md" };
  const entries = [{ ...entry, path: "C:\\skills\\SKILL.md" }, { ...entry, name: "docx", path: null }, relative];
  expect(broken(...opened(), list(...entries))).toEqual(["skill-entry-path 5"]);
  expect(broken(...opened(1), list(...entries), invoke(3, "odt"), answer(3, { result: {} }))).toEqual([]);
});

test("a skill may come as an entry and in a list of skills only if the client asked for both", () => {
  const skills = { sessionUpdate: "_available_skills_update", availableSkills: [{ name: "pdf", description: "d" }] };
  const told: Sent = ["agent", { method: "session/update", params: { sessionId: "s", update: skills } }];
  expect(broken(...opened(), list(entry), told)).toEqual(["skill-in-one-form 6"]);
  const [, ...rest] = opened();
  const session = { commands: { skill: {} }, skills: true };
  const both = request(1, "initialize", { protocolVersion: 2, capabilities: { session } });
  expect(broken(both, ...rest, list(entry), told)).toEqual([]);
  expect(broken(...opened(), list(entry, { ...entry, type: "command", name: "$pdf" }))).toEqual([
    "skill-in-one-form 5",
  ]);
});

test("the RFD alone has no verdict of an agent that shows nothing of it", () => {
  const entries = entriesOf([...opened(2, null), list({ type: "command", name: "plan", description: "Plans." })]);
  const verdictOf = (subject: "agent" | "client") =>
    makeReport(subject, [{ name: "one", entries }], ["agent-skills-rfd"]).conformant;
  expect([verdictOf("agent"), verdictOf("client")]).toEqual([null, true]);
});
