import {
  type AvailableCommand,
  type ClientCapabilities,
  type ClientContext,
  type InitializeResponse,
  PROTOCOL_VERSION,
  type PermissionOptionKind,
  type RequestPermissionRequest,
  type SessionUpdate,
  type StopReason,
  type ToolCallUpdate,
  client,
  methods,
} from "@agentclientprotocol/sdk";
import type { Playground } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";
import { afterReading } from "../acp/permission-answers.ts";
import { type WrappedProcess, startWrapped } from "./wrapped-process.ts";

/** An editor that uses the SDK's client without opt-in, connected to a wrapped real agent. */
export interface Editor extends Pick<WrappedProcess, "id" | "received" | "until" | "exited" | "close"> {
  readonly agent: ClientContext;
  readonly initialized: InitializeResponse;
  /** The calls of tools for which permission was requested; the editor allows each once, unless the test says otherwise. */
  readonly permissions: readonly ToolCallUpdate[];
  /** The same requests, whole. */
  readonly requests: readonly RequestPermissionRequest[];
  /** Chooses how the editor answers the requests that follow. */
  answerWith(kind: PermissionOptionKind, which?: (request: RequestPermissionRequest) => boolean): void;
  /** The updates that the SDK delivered for this session, in order. */
  updates(sessionId: string): readonly SessionUpdate[];
  /** The latest list of commands of this session. */
  commands(sessionId: string): readonly AvailableCommand[];
  /** Opens a session in the playground's project. */
  openSession(): Promise<string>;
  /** Sends a prompt of one text block and waits for the end of the turn; `signal` cancels the request. */
  prompt(sessionId: string, text: string, signal?: AbortSignal): Promise<StopReason>;
}

export async function openEditor(
  agent: RealAgent,
  playground: Playground,
  options: {
    modelUrl: string;
    options?: readonly string[];
    capabilities?: ClientCapabilities & { subagents?: object };
  },
): Promise<Editor> {
  const wrapped = await startWrapped(agent, playground, options);
  const updates = new Map<string, SessionUpdate[]>();
  const permissions: ToolCallUpdate[] = [];
  const requests: RequestPermissionRequest[] = [];
  let answer: (request: RequestPermissionRequest) => PermissionOptionKind = () => "allow_once";
  const connection = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params: { sessionId, update } }) => {
      updates.set(sessionId, [...(updates.get(sessionId) ?? []), update]);
      wrapped.lookAgain();
    })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      permissions.push(params.toolCall);
      requests.push(params);
      await new Promise<void>(afterReading);
      const chosen = params.options.find(({ kind }) => kind === answer(params));
      return { outcome: chosen ? { outcome: "selected", optionId: chosen.optionId } : { outcome: "cancelled" } };
    })
    .connect(wrapped.stream);
  const initialized = await connection.agent
    .request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "test-editor", version: "1.0.0" },
      clientCapabilities: options.capabilities ?? {},
    })
    .catch((cause: unknown) => {
      throw new Error(`${agent.name} did not start: ${wrapped.diagnostics()}`, { cause });
    });
  return {
    ...wrapped,
    agent: connection.agent,
    initialized,
    permissions,
    requests,
    answerWith(kind, which = () => true) {
      answer = (request) => (which(request) ? kind : "allow_once");
    },
    updates: (sessionId) => updates.get(sessionId) ?? [],
    commands: (sessionId) =>
      updates.get(sessionId)?.findLast((update) => update.sessionUpdate === "available_commands_update")
        ?.availableCommands ?? [],
    async openSession() {
      const asked = connection.agent.request(methods.agent.session.new, { cwd: playground.project, mcpServers: [] });
      return (await asked).sessionId;
    },
    async prompt(sessionId, text, signal) {
      const asked = connection.agent.request(
        methods.agent.session.prompt,
        { sessionId, prompt: [{ type: "text", text }] },
        signal && { cancellationSignal: signal },
      );
      return (await asked).stopReason;
    },
  };
}
