import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { delegationOf } from "./delegate.ts";
import { openMockModel } from "./mock-model.ts";
import { openEditor } from "./open-editor.ts";
import { makePlayground } from "./playground.ts";
import { claude, codex } from "./real-agents.ts";

const task = "SUBTASK: count to three.";
const code = "def main():\n    return 3";

interface Update {
  readonly sessionUpdate: string;
  readonly sessionId?: string;
  readonly title?: string;
}

test.each([claude, codex].map((agent) => [agent.name, agent] as const))(
  "%s: a call of a subagent is described, asked about by nobody, and recorded with the subagent and its session",
  async (_name, agent) => {
    const playground = await makePlayground();
    onTestFinished(playground.remove);
    const model = await openMockModel();
    onTestFinished(model.close);
    const editor = await openEditor(agent, playground, { modelUrl: model.url, capabilities: { subagents: {} } });
    onTestFinished(async () => {
      await editor.close();
    });
    const sessionId = await editor.openSession();
    // Some agents connect to servers during their first turn.
    await editor.prompt(sessionId, "Hello.");
    model.plan(delegationOf(agent, task) ?? []);
    model.planAbout(task, [{ tool: "run_code", input: { language: "python", code } }]);
    await editor.prompt(sessionId, "Delegate it.");
    const updates = (): { sessionId: string; update: Update }[] =>
      editor.received.flatMap((message) =>
        "method" in message && message.method === "session/update"
          ? [message.params as { sessionId: string; update: Update }]
          : [],
      );
    await editor.until("the end of the call", () => model.results.some((result) => result.includes('"output":3')));

    const announced = updates().find(({ update }) => update.sessionUpdate === "subagent_update");
    expect(announced?.sessionId).toBe(sessionId);
    const subagent = announced?.update.sessionId;
    const shown = updates().filter(({ update }) => update.title === "Run Python code");
    expect(shown.map((update) => update.sessionId)).toContain(subagent);
    expect(editor.requests.filter(({ toolCall }) => JSON.stringify(toolCall).includes("run_code"))).toEqual([]);
    const rows = await ledgerRows(playground.home);
    expect(rows.filter(({ tool }) => tool === "run_code")).toMatchObject([
      { outcome: "completed", session_id: sessionId, subagent },
    ]);
  },
);

async function ledgerRows(home: string): Promise<readonly Record<string, unknown>[]> {
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter(
    ({ name, parentPath }) => name.endsWith(".jsonl") && parentPath.includes("ledger"),
  );
  const texts = await Promise.all(files.map(({ name, parentPath }) => readFile(join(parentPath, name), "utf8")));
  return texts
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
