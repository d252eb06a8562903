import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import type {
  AnyMessage,
  AvailableCommand,
  ClientCapabilities,
  ClientContext,
  InitializeResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { Playground } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";

/** An editor made of the SDK's client, connected to a real agent behind the wrapper, as real processes. */
export interface Editor {
  readonly agent: ClientContext;
  readonly initialized: InitializeResponse;
  /** Every message from the wrapper, raw, in order of arrival. */
  readonly received: readonly AnyMessage[];
  /** What the SDK handed to the editor for this session, in order. */
  updates(sessionId: string): readonly SessionUpdate[];
  /** The latest list of commands of this session. */
  commands(sessionId: string): readonly AvailableCommand[];
  /** Resolves when the condition holds, looking again after each message; throws with the evidence when it never does. */
  until(expectation: string, condition: () => boolean): Promise<void>;
  /** Sends a prompt of one text block and waits for the turn's end. */
  prompt(sessionId: string, text: string): Promise<void>;
  /** Closes the wrapper's stdin, as editors do; resolves to its exit code or signal. */
  close(): Promise<number | string>;
}

const wrapper = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const patience = 30_000;

export async function openEditor(
  agent: RealAgent,
  { home, project, explicitSkills }: Playground,
  { modelUrl, clientCapabilities = {} }: { modelUrl: string; clientCapabilities?: ClientCapabilities },
): Promise<Editor> {
  const child = spawn(process.execPath, [wrapper, "--skills", explicitSkills, "--", ...(await agent.command())], {
    cwd: project,
    env: { PATH: process.env["PATH"], HOME: home, ...agent.environment({ modelUrl, home }) },
  });
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  let diagnostics = "";
  child.stderr.on("data", (chunk: Buffer) => (diagnostics += chunk.toString("utf8")));

  const received: AnyMessage[] = [];
  const updates = new Map<string, SessionUpdate[]>();
  const watchers = new Set<() => void>();
  const lookAgain = () => {
    for (const watcher of watchers) watcher();
  };
  const { readable, writable } = ndJsonStream(
    Writable.toWeb(child.stdin),
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const recorder = new TransformStream<AnyMessage, AnyMessage>({
    transform(message, controller) {
      received.push(message);
      controller.enqueue(message);
      lookAgain();
    },
  });
  const connection = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
      updates.set(sessionId, [...(updates.get(sessionId) ?? []), update]);
      lookAgain();
    })
    .connect({ readable: readable.pipeThrough(recorder), writable });
  const until: Editor["until"] = (expectation, condition) =>
    new Promise((resolve, reject) => {
      const finish = (error?: Error) => {
        clearTimeout(timer);
        watchers.delete(look);
        if (error) reject(error);
        else resolve();
      };
      const look = () => {
        if (condition()) finish();
      };
      const timer = setTimeout(() => {
        const last = received.slice(-5).map((message) => JSON.stringify(message).slice(0, 2000));
        finish(new Error([`not seen: ${expectation}`, ...last, diagnostics.slice(-2000)].join("\n")));
      }, patience);
      watchers.add(look);
      look();
    });

  const initialized = await connection.agent
    .request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "test-editor", version: "1.0.0" },
      clientCapabilities,
    })
    .catch((cause: unknown) => {
      throw new Error(`${agent.name} did not start: ${diagnostics}`, { cause });
    });
  return {
    agent: connection.agent,
    initialized,
    received,
    updates: (sessionId) => updates.get(sessionId) ?? [],
    commands: (sessionId) =>
      updates.get(sessionId)?.findLast((update) => update.sessionUpdate === "available_commands_update")
        ?.availableCommands ?? [],
    until,
    async prompt(sessionId, text) {
      await connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
    },
    async close() {
      child.stdin.end();
      const [code, signal] = await exited;
      return code ?? signal ?? "unknown";
    },
  };
}
