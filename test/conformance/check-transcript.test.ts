import { expect, test } from "vitest";
import { checkTranscript, makeReport } from "../../src/conformance/report.ts";
import { escapeXml } from "../../src/conformance/report/print-report.ts";
import { toTranscriptEntry } from "../../src/conformance/transcript.ts";

const nonsense = [null, 7, "text", [], {}, { params: 1 }, { update: { sessionUpdate: "available_skills_update" } }];

test("whatever an agent sends, it is reported and never throws", () => {
  const updates = [
    ...nonsense,
    { sessionId: 1, update: { sessionUpdate: "available_commands_update", availableCommands: [null] } },
  ];
  const lines = [
    ...nonsense.map((value) => JSON.stringify(value)),
    ...updates.map((params) => JSON.stringify({ jsonrpc: "2.0", method: "session/update", params })),
    ...nonsense.map((result) => JSON.stringify({ jsonrpc: "2.0", id: result, result })),
    "Welcome!",
  ];
  const entries = lines.map((line, index) => toTranscriptEntry(index + 1, "agent", line));
  const rules = new Set(checkTranscript(entries).map(({ rule }) => rule));
  expect([...rules].sort()).toEqual([
    "agent-answers",
    "agent-messages",
    "command-fields",
    "list-present",
    "session-known-first",
  ]);
  expect(makeReport("both", [{ name: "nonsense", entries }]).conformant).toBe(false);
});

test("an error without an id answers a line that is not JSON, once", () => {
  const refused = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
  const entries = [
    toTranscriptEntry(1, "agent", "Welcome!"),
    toTranscriptEntry(2, "client", refused),
    toTranscriptEntry(3, "client", refused),
  ];
  const ofClient = checkTranscript(entries).filter(({ appliesTo }) => appliesTo === "client");
  expect(ofClient.map(({ rule, line }) => `${rule} ${line}`)).toEqual(["client-quiet 3"]);
});

test("one rule is reported at most 20 times, then how often", () => {
  const entries = Array.from({ length: 50 }, (_, index) => toTranscriptEntry(index + 1, "agent", "not JSON"));
  const findings = checkTranscript(entries);
  expect(findings).toHaveLength(21);
  expect(findings.at(-1)?.message).toBe("30 more of these");
});

test("XML has no control characters, and no characters that reorder text", () => {
  expect(escapeXml('<a & "b">\u0000\u001b[31m\u202e\n')).toBe(
    "&lt;a &amp; &quot;b&quot;&gt;\\u{0}\\u{1b}[31m\\u{202e}\n",
  );
});

test("null stands for an optional field that is absent", () => {
  const skill = { name: "pdf", description: "Reads PDF files.", license: null, compatibility: null };
  const whole = { ...skill, metadata: null, allowedTools: null, _meta: null };
  const update = { sessionUpdate: "available_skills_update", availableSkills: [whole], _meta: null };
  const line = JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
  const broken = checkTranscript([toTranscriptEntry(1, "agent", line)]).filter(({ source }) => source !== "acp-skills");
  expect(broken).toEqual([]);
});
