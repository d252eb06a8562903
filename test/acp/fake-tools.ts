import type { AgentTools, EditorCaller, ToolServerOptions } from "../../src/acp/service/tools/agent-tools.ts";

interface FakeCall {
  readonly name: string;
  readonly args: unknown;
  readonly caller: EditorCaller;
  readonly signal: AbortSignal;
}

/** Tools with results that the test defines. */
export interface FakeTools extends AgentTools {
  readonly calls: FakeCall[];
  /** Every server that was opened, with its session, if known, and whether it is closed. */
  readonly servers: (ToolServerOptions & { sessionId: string | undefined; isClosed: boolean })[];
  /** The sessions whose turn was cancelled. */
  readonly cancelled: (string | undefined)[];
  /** How often `prepare` was called. */
  readonly prepared: () => number;
}

export function fakeTools(
  answer: (call: FakeCall) => unknown = ({ name, args }) => ({ name, args }),
  openServer: () => Promise<void> = () => Promise.resolve(),
): FakeTools {
  const calls: FakeTools["calls"] = [];
  const servers: FakeTools["servers"] = [];
  const cancelled: FakeTools["cancelled"] = [];
  let prepared = 0;
  return {
    calls,
    servers,
    cancelled,
    prepared: () => prepared,
    prepare() {
      prepared++;
    },
    async call(name, args, caller, signal) {
      const call = { name, args, caller, signal };
      calls.push(call);
      return await answer(call);
    },
    async openServer(_catalog, session) {
      await openServer();
      const server = { ...session, isClosed: false };
      servers.push(server);
      const address =
        session.transport === "stdio"
          ? { path: "/private/socket" }
          : { url: `http://127.0.0.1:1/mcp/${servers.length}`, headers: { Authorization: "Bearer secret" } };
      return {
        address,
        begin: (id) => {
          server.sessionId = id;
        },
        cancel: () => {
          cancelled.push(server.sessionId);
        },
        close: () => {
          server.isClosed = true;
        },
      };
    },
    close: () => Promise.resolve(),
  };
}
