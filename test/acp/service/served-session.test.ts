import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, test, vi } from "vitest";
import { diskSessionRecords } from "../../../src/runtime/ledger/disk-session-records.ts";
import type { ListedSession } from "../../../src/runtime/ledger.ts";
import { manualClock } from "../../manual-clock.ts";
import { clients, converse, converseInSession } from "../conversation.ts";
import { offer } from "../memory-skillset.ts";

let directory: string;

beforeEach(({ onTestFinished }) => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "sessions-of-editors-")));
  vi.stubEnv("ACP_SKILLS_HOME", directory);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(directory, { recursive: true, force: true });
  });
});

async function recorded(found: (sessions: readonly ListedSession[]) => void): Promise<void> {
  const records = diskSessionRecords(path.join(directory, "sessions"), { clock: manualClock(), log: () => undefined });
  await vi.waitFor(async () => {
    found(await records.read());
  });
}

test("records which skills a session was sent, in which forms, and again after a change", async () => {
  const { settle, skillset, clock } = await converseInSession(clients.optedIn);
  await settle();
  clock.pass(250);
  await recorded((sessions) => {
    expect(sessions).toMatchObject([
      {
        isOpen: true,
        forms: ["available_skills_update", "available_commands_update"],
        tools: false,
        announced: { skills: 2, names: ["pdf", "csv"] },
      },
    ]);
  });
  skillset.set([offer("pdf"), offer("csv"), offer("new")]);
  clock.pass(250);
  await recorded(([session]) => {
    expect(session?.announced).toMatchObject({ skills: 3, names: ["pdf", "csv", "new"] });
  });
});

test("records who is connected, and that a session was closed", async () => {
  const { exchange, settle, clock } = converse();
  const info = { protocolVersion: 1, clientInfo: { name: "an-editor", version: "1" } };
  await exchange("initialize", info, { protocolVersion: 1, agentInfo: { name: "an-agent", version: "2" } });
  await exchange("session/new", { cwd: directory, mcpServers: [] }, { sessionId: "sess_7" });
  await settle();
  await exchange("session/close", { sessionId: "sess_7" }, {});
  clock.pass(250);
  await recorded((sessions) => {
    expect(sessions).toMatchObject([
      { sessionId: "sess_7", editor: "an-editor", agent: "an-agent", isOpen: false, closedAt: 1 },
    ]);
  });
});

test("records nothing of a session that the agent refuses", async () => {
  const { editor, agent, exchange, clock } = converse();
  await exchange("initialize", { protocolVersion: 1 }, { protocolVersion: 1 });
  await editor({ id: 9, method: "session/new", params: { cwd: directory, mcpServers: [] } });
  agent({ id: 9, error: { code: -32000, message: "no" } });
  clock.pass(250);
  await recorded((sessions) => {
    expect(sessions).toEqual([]);
  });
});
