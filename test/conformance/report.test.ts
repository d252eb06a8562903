import { describe, expect, test } from "vitest";
import { makeReport } from "../../src/conformance/report.ts";
import { junitReport, textReport } from "../../src/conformance/report/print-report.ts";
import { toTranscriptEntry } from "../../src/conformance/transcript.ts";

type Sent = readonly [from: "client" | "agent", message: object];

const request = (id: number, method: string, params: object): Sent => [
  "client",
  { jsonrpc: "2.0", id, method, params },
];
const response = (id: number, result: object): Sent => ["agent", { jsonrpc: "2.0", id, result }];
const update = (params: object): Sent => ["agent", { jsonrpc: "2.0", method: "session/update", params }];
const opened: readonly Sent[] = [
  request(1, "initialize", { protocolVersion: 1, clientCapabilities: {} }),
  response(1, { protocolVersion: 1, agentCapabilities: {} }),
  request(2, "session/new", { cwd: "/project", mcpServers: [] }),
  response(2, { sessionId: "s" }),
];
const list = {
  sessionUpdate: "available_skills_update",
  availableSkills: [
    { name: "code-review", description: "Performs automated code review on staged changes..." },
    { name: "test-generator", description: "Generates unit tests.", allowedTools: ["Bash", "Read", "Write"] },
  ],
};

const reportOn = (sent: readonly Sent[], ...[sources]: [Parameters<typeof makeReport>[2]?]) =>
  makeReport(
    "agent",
    [
      {
        name: "one",
        entries: sent.map(([from, message], index) => toTranscriptEntry(index + 1, from, JSON.stringify(message))),
      },
    ],
    sources,
  );

describe("an agent that does what the RFD says, and nothing else", () => {
  test.each([
    ["nested, as ACP's updates are", { sessionId: "s", update: list }],
    ["flat, as the RFD's sample", { sessionId: "s", ...list }],
  ])("is conformant: %s", (_shape, params) => {
    expect(reportOn([...opened, update(params)])).toMatchObject({ conformant: true, errors: 0 });
  });

  test("lists what else this project requests, which decides only when it is chosen", () => {
    const sent = [...opened, update({ sessionId: "s", ...list })];
    const { verdicts } = reportOn(sent);
    expect(verdicts.find(({ source }) => source === "acp-skills")).toMatchObject({ checked: true, errors: 2 });
    expect(reportOn(sent, ["acp-skills"])).toMatchObject({ conformant: false, errors: 2 });
    expect([...textReport(reportOn(sent))]).toEqual(
      expect.arrayContaining([
        "rules of rfd-370: 0 errors, 0 warnings",
        "rules of acp-skills: 2 errors, 0 warnings (does not count)",
      ]),
    );
  });
});

test("one source that is asked for is all that a report is about", () => {
  const sent = [...opened, update({ sessionId: "s", update: list }), update({ sessionId: "s", ...list })];
  const asked = reportOn(sent, ["rfd-370"]);
  expect(asked).toMatchObject({ conformant: true, sources: ["rfd-370"], errors: 0 });
  expect(asked.verdicts).toEqual([{ source: "rfd-370", checked: true, errors: 0, warnings: 0 }]);
  expect([...textReport(asked)].join("\n")).not.toMatch(/acp-skills:|rules of acp|does not count/);
  expect([...textReport(reportOn(sent))].join("\n")).toMatch(/\[acp-skills: update-nested\]\n/);
  expect(reportOn(opened, ["rfd-370"]).conformant).toBeNull();
});

test("an agent that sends nothing has no verdict, and JUnit skips what was not checked", () => {
  const report = reportOn(opened);
  expect(report.conformant).toBeNull();
  expect([...textReport(report)].at(-1)).toBe("nothing was checked: the agent announced no skills");
  expect([...junitReport(report)].join("")).toMatch(
    /name="skill-name" time="0"><skipped message="nothing was checked"\/>/,
  );
  expect(reportOn(opened, ["acp", "json-rpc"]).conformant).toBe(true);
});

test("a check that ended early has no verdict, and one that failed has", () => {
  const entries = opened.map(([from, message], index) => toTranscriptEntry(index + 1, from, JSON.stringify(message)));
  const early = { name: "client", entries, unfinished: "the client left after 3 steps" };
  const report = makeReport("client", [early]);
  expect(report.conformant).toBeNull();
  expect([...textReport(report)].at(-1)).toBe("not finished: the client left after 3 steps");
  expect(makeReport("client", [{ ...early, faults: ["it fell over"] }]).conformant).toBe(false);
});
