import { readdir } from "node:fs/promises";
import { type SessionUpdate, methods } from "@agentclientprotocol/sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { hostDirectoryPrefix } from "../../src/runtime/sandbox/directory/host-directory.ts";
import { type MockModel, openMockModel } from "./mock-model.ts";
import { type Editor, openEditor } from "./open-editor.ts";
import { type Playground, makePlayground, processesWithHome } from "./playground.ts";
import { type RunningProcess, descendantsOf, stillRunning } from "./process-tree.ts";
import type { RealAgent } from "./real-agents.ts";
import { sleeper, writeRunningSkills } from "./running-skills.ts";

/** The tests of tools that run code, for each real agent. */
export function describeRunningAgent(agent: RealAgent): void {
  const open = (options?: readonly string[]): Promise<Opened> => openRunning(agent, options);

  describe(`${agent.name}'s model`, () => {
    test.each([
      ["HTTP", []],
      ["stdio", ["--tools", "stdio"]],
    ])("runs an action, code and a script over %s and shows each call in the editor", async (_transport, options) => {
      const { model, editor, sessionId } = await open(options);
      model.plan([
        { tool: "create_blob", input: { content: "hello", kind: "text/plain" } },
        { tool: "execute_skill", input: ([made]) => ({ name: "text.shout", args: { text: blobIn(made) } }) },
        { tool: "read_blob", input: ([, shouted]) => ({ blob_id: blobIn(shouted), mode: "full" }) },
        { tool: "run_code", input: { language: "python", code: "def main(args):\n    return args['n'] * 2\n", args } },
        { tool: "execute_skill", input: { name: "line-count", script: "scripts/count.py", args: lines } },
      ]);
      expect(await editor.prompt(sessionId, "Run them.")).toBe("end_turn");

      const [, shouted, read, doubled, counted] = model.results.map((result) => JSON.parse(result) as object);
      expect(shouted).toMatchObject({ status: "completed", logs_preview: "listening\nshouting\n" });
      expect(read).toMatchObject({ content: "HELLO" });
      expect(doubled).toMatchObject({ status: "completed", output: 42 });
      expect(counted).toMatchObject({ output: { exit_code: 0, stdout: "lines: 3 in all\n" } });

      const calls = callsIn(editor.updates(sessionId));
      expect(calls).toHaveLength(5);
      for (const call of calls) expect([call[0]?.status, call.at(-1)?.status]).toEqual(["pending", "completed"]);
      const shout = calls[1] ?? [];
      expect(contentOf(shout.at(-1))).toContain("Shouted.");
      const whileItRan = shout.filter(({ status }) => status !== "completed").map(contentOf);
      expect(whileItRan.some((content) => content.includes("listening"))).toBe(true);
    });

    test("gets an error for a skill that the person refuses, and runs it when they allow it, or with --grant", async () => {
      const statusCall = [{ tool: "execute_skill", input: { name: "status.fetch" } }];
      const isOurs = (title: unknown): boolean => String(title).includes(": run status.fetch 1.0.0");
      const refused = await open();
      refused.editor.answerWith("reject_once", ({ toolCall }) => isOurs(toolCall.title));
      refused.model.plan(statusCall);
      await refused.editor.prompt(refused.sessionId, "Fetch it.");
      expect(refused.editor.permissions.filter(({ title }) => isOurs(title))).toHaveLength(1);
      expect(refused.model.results[0]).toContain("PERMISSION_DENIED");
      expect(refused.model.results[0]).toContain("acp-skills approvals grant status.fetch@sha256:");
      expect(callsIn(refused.editor.updates(refused.sessionId))[0]?.at(-1)?.status).toBe("failed");
      expect(fetches(refused.model)).toBe(0);

      refused.editor.answerWith("allow_always", ({ toolCall }) => isOurs(toolCall.title));
      refused.model.plan([...statusCall, ...statusCall]);
      await refused.editor.prompt(refused.sessionId, "/status-fetch Fetch it twice.");
      expect(refused.editor.permissions.filter(({ title }) => isOurs(title))).toHaveLength(2);
      expect(fetches(refused.model)).toBe(2);

      const granted = await open(["--grant", "status.fetch:network"]);
      granted.model.plan(statusCall);
      await granted.editor.prompt(granted.sessionId, "Fetch it.");
      expect(granted.model.results[0]).toContain('"status":"completed"');
      expect(fetches(granted.model)).toBe(1);
    });
  });

  describe.runIf(process.platform === "linux")(`a skill that ${agent.name}'s model runs`, () => {
    test.each(["session/cancel", "$/cancel_request"] as const)(
      "is ended by %s while the session continues",
      async (way) => {
        const { model, editor, sessionId } = await open();
        const request = new AbortController();
        const turn = nap(model, editor, { sessionId, signal: request.signal });
        const running = await untilAsleep(editor);

        if (way === "$/cancel_request") request.abort();
        else await editor.agent.notify(methods.agent.session.cancel, { sessionId });
        expect(await turn).toBe(way === "$/cancel_request" ? agent.endOfGivenUp : "cancelled");
        await expect.poll(() => stillRunning(running.filter(isSleeper)), { timeout: 10_000 }).toEqual([]);
        expect(callsIn(editor.updates(sessionId))[0]?.at(-1)?.status).toBe("failed");

        model.plan([{ tool: "run_code", input: { language: "python", code: "def main():\n    return 42\n" } }]);
        expect(await editor.prompt(sessionId, "Go on.")).toBe("end_turn");
        expect(model.results[0]).toContain('"output":42');
      },
    );

    test("is ended when the editor closes stdin, without leftovers", async () => {
      const { playground, model, editor, sessionId } = await open();
      nap(model, editor, { sessionId }).catch(() => undefined);
      const running = await untilAsleep(editor);
      expect(await runDirectories(playground)).not.toEqual([]);
      await editor.close();
      await expectNothingLeft(playground, running);
    });

    test("is ended when the agent is killed, without leftovers", async () => {
      const { playground, model, editor, sessionId } = await open();
      nap(model, editor, { sessionId }).catch(() => undefined);
      const running = await untilAsleep(editor);
      expect(await runDirectories(playground)).not.toEqual([]);
      const command = (await agent.command()).join(" ");
      const killed = running.find((process) => process.parent === editor.id && process.command === command);
      process.kill(killed?.id ?? Number.NaN, "SIGKILL");
      expect(await editor.exited).toBe("SIGKILL");
      await expectNothingLeft(playground, running);
    });
  });
}

export interface Opened {
  readonly playground: Playground;
  readonly model: MockModel;
  readonly editor: Editor;
  readonly sessionId: string;
}

export async function openRunning(agent: RealAgent, options: readonly string[] = []): Promise<Opened> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  await writeRunningSkills(playground.explicitSkills, { statusUrl: `${model.url}${statusPath}` });
  const editor = await openEditor(agent, playground, { modelUrl: model.url, options });
  onTestFinished(async () => {
    await editor.close();
  });
  return { playground, model, editor, sessionId: await editor.openSession() };
}

/** A path of the mock that no agent requests. */
const statusPath = "/v1/models";
const args = { n: 21 };
const lines = { argv: ["in", "all"], stdin: "a\nb\nc\n" };

function fetches(model: MockModel): number {
  return model.requests.filter(({ path }) => path === statusPath).length;
}

function blobIn(result = ""): string {
  return /blob:\w+/.exec(result)?.[0] ?? "";
}

type CallUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call" | "tool_call_update" }>;

/** The updates of each call of a tool, in order. */
function callsIn(updates: readonly SessionUpdate[]): CallUpdate[][] {
  const calls = new Map<string, CallUpdate[]>();
  for (const update of updates) {
    if (update.sessionUpdate !== "tool_call" && update.sessionUpdate !== "tool_call_update") continue;
    calls.set(update.toolCallId, [...(calls.get(update.toolCallId) ?? []), update]);
  }
  return [...calls.values()];
}

function contentOf(update: CallUpdate | undefined): string {
  return JSON.stringify(update?.content ?? []);
}

/** A turn in which the model runs code that sleeps longer than any test, with a sufficient time limit. */
function nap(
  model: MockModel,
  editor: Editor,
  { sessionId, signal }: { readonly sessionId: string; readonly signal?: AbortSignal },
): Promise<string> {
  model.plan([{ tool: "execute_skill", input: { name: "nap.long", timeout_ms: 600_000 } }]);
  return editor.prompt(sessionId, "Sleep.", signal);
}

function isSleeper({ command }: RunningProcess): boolean {
  return command.endsWith(sleeper);
}

/** Waits until the skill runs; returns all descendants of the wrapper. */
async function untilAsleep({ id }: Editor): Promise<RunningProcess[]> {
  let running: RunningProcess[] = [];
  await expect.poll(async () => (running = await descendantsOf(id)).some(isSleeper), { timeout: 30_000 }).toBe(true);
  return running;
}

async function runDirectories({ temporary }: Playground): Promise<string[]> {
  return (await readdir(temporary)).filter((name) => name.startsWith(hostDirectoryPrefix));
}

async function expectNothingLeft(playground: Playground, running: readonly RunningProcess[]): Promise<void> {
  // Claude's child processes end slightly after it, with or without the wrapper.
  await expect.poll(() => stillRunning(running), { timeout: 10_000 }).toEqual([]);
  expect(await processesWithHome(playground.home)).toEqual([]);
  expect(await runDirectories(playground)).toEqual([]);
}
