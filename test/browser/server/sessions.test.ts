import { expect, test, vi } from "vitest";
import type { SessionRecord } from "../../../src/runtime/ledger.ts";
import type { Budget, SessionList } from "../../../src/browser/wire/sessions.ts";
import { openRuns } from "./open-runs.ts";

const record = {
  sessionId: "sess_1",
  agent: "an-agent",
  editor: "an-editor",
  openedAt: 1_000,
  forms: ["available_commands_update"],
  tools: true,
  announced: { at: 1_050, skills: 1, names: ["greet"] },
} satisfies SessionRecord;

test("lists what was announced to sessions, and which skills they used", async () => {
  const { app, send } = await openRuns({});
  app.sessionRecords.keep({}, record);
  app.sessionRecords.keep({}, { ...record, sessionId: "sess_2", openedAt: 2_000, closedAt: 3_000 });
  const use = { tool: "execute_skill", skill: "greet", door: "mcp", outcome: "completed" } as const;
  app.ledger.record({ ...use, at: 1_500, sessionId: "sess_1" });
  app.ledger.record({ ...use, at: 9_000, sessionId: "sess_2" });
  app.ledger.record({ ...use, at: 1_600, sessionId: "sess_1", event: "ask" });
  app.ledger.record({ ...use, at: 1_700 });
  const { status, json } = await send("/api/sessions");
  const { announced, agent, editor, openedAt, forms, tools } = record;
  const common = { agent, editor, forms, tools, announced };
  expect(status).toBe(200);
  expect(json).toEqual({
    sessions: [
      {
        ...common,
        id: "sess_1",
        openedAt,
        used: [{ at: 1_500, tool: "execute_skill", skill: "greet", outcome: "completed" }],
      },
      { ...common, id: "sess_2", openedAt: 2_000, closedAt: 3_000, used: [] },
    ],
  } satisfies SessionList);
});

test("a page that shows the sessions is notified when another one appears", async () => {
  const { app, send, events } = await openRuns({});
  app.sessionRecords.keep({}, record);
  await send("/api/sessions");
  await send("/api/sessions");
  app.sessionRecords.keep({}, { ...record, sessionId: "sess_2" });
  await vi.waitFor(() => {
    expect(events()).toContain("sessions");
  });
});

test("counts what models see, and what agents cut of it", async () => {
  const text = (name: string, description: string, rest = ""): string =>
    `---\nname: ${name}\ndescription: ${description}\n${rest}---\n\nDo it.\n`;
  const { send } = await openRuns({
    "short/SKILL.md": text("short", "Is short."),
    "long/SKILL.md": text("long", "x".repeat(1_024)),
    "hidden/SKILL.md": text("hidden", "For people.", "disable-model-invocation: true\n"),
    ...Object.fromEntries(
      Array.from({ length: 9 }, (_, at) => [`many-${at}/SKILL.md`, text(`many-${at}`, "y".repeat(900))]),
    ),
  });
  const { json } = await send("/api/budget");
  const { skills, listed, agents } = json as Budget;
  expect(skills).toBe(11);
  expect(listed).toBeGreaterThan((1_024 + 9 * 900) / 4);
  for (const { agent, truncated, omitted } of agents) {
    expect([agent, truncated.length, omitted]).toEqual([agent, 10, []]);
    expect(truncated).not.toContain("short");
  }
});
