import type { App } from "../../../runtime/app.ts";
import { type CallerFacts, type CallerBase, createCaller, createOpeningCaller } from "../../../runtime/caller.ts";
import { SkillsError } from "../../../base/errors.ts";
import { doOnce } from "../../../base/promises.ts";
import type { McpCaller, McpApp } from "../../../mcp/mcp-caller.ts";
import type { SessionServers } from "../../../mcp/session-servers.ts";
import type { Ask } from "../../../runtime/question.ts";
import type { ServerAddress, McpTransport } from "../../messages/server-entry.ts";
import type { EquipRequest } from "../../skill-service.ts";

/** The MCP server for a session that is being opened. */
export interface ToolServer {
  readonly address: ServerAddress;
  /** Sets the session's id. Earlier calls of the model belong to a temporary session. */
  readonly begin: (sessionId: string) => void;
  /** Cancels running calls, because their turn was cancelled. */
  readonly cancel: () => void;
  /** Closes the server. Idempotent; never throws. */
  readonly close: () => void;
}

/** An editor as the caller of a tool. */
export interface EditorCaller extends Pick<CallerFacts, "sessionId" | "agent" | "onEvent" | "ask"> {
  readonly skills: CallerBase;
}

export interface ToolServerOptions
  extends
    Pick<EquipRequest, "sessionId" | "reserve">,
    Pick<McpCaller, "subagents">,
    Required<Pick<McpCaller, "follow" | "toolsListed">> {
  /** The agent's name, as the agent declares it. */
  readonly agent: string;
  /** The transport over which the agent connects to the server. */
  readonly transport: McpTransport;
  /** Creates the function that asks the user at the editor, for a session. */
  readonly askIn: (sessionId: string) => Ask;
}

/** The tools of one connection, for its editor and for the agent's model. */
export interface AgentTools {
  /** Loads the modules that calls need. Never throws. */
  prepare(): void;
  /** Calls a tool. Rejects like the toolbox. */
  call(name: string, args: unknown, caller: EditorCaller, signal: AbortSignal): Promise<unknown>;
  /** Opens a server for a session whose id may not be known yet. */
  openServer(skills: CallerBase, session: ToolServerOptions): Promise<ToolServer>;
  /** Closes every server. Idempotent; never throws. */
  close(): Promise<void>;
}

/** The fields of the app that the tools of sessions need. */
export type ToolsApp = McpApp & Pick<App, "clock" | "load">;

/** Opens the MCP servers of sessions. */
export type OpenServers = (app: ToolsApp) => Promise<SessionServers>;

/** Opens the MCP servers of sessions. The MCP library is loaded when a session first needs a server. */
const loadServers: OpenServers = async (app) =>
  (await import("../../../mcp/session-servers.ts")).openSessionServers(app);

/** Opens the tools. `isTaught`: models learn about skills in prompts, so that the instructions of servers have no index. */
export function openAgentTools(
  app: ToolsApp,
  options: { readonly openServers?: OpenServers | undefined; readonly isTaught?: boolean } = {},
): AgentTools {
  const { openServers = loadServers, isTaught = false } = options;
  let opening: Promise<SessionServers> | undefined;
  let isClosed = false;

  const servers = doOnce(() => (opening = openServers(app)));

  function closingFailed(error: unknown): void {
    app.log("warning", `Closing an MCP server failed: ${String(error)}`);
  }

  return {
    prepare() {
      // A failure is reported when the modules are needed.
      Promise.all([import("../../../mcp/mcp-server.ts"), app.load()]).catch(() => undefined);
    },
    async call(name, args, { skills, ...facts }, signal) {
      return await app.toolbox.call(name, args, createCaller(skills, { transport: "acp", ...facts }), signal);
    },
    async openServer(skills, { sessionId, agent, transport, reserve, subagents, follow, toolsListed, askIn }) {
      let turn = new AbortController();
      const { caller, begin } = createOpeningCaller(skills, { transport: "mcp", agent, askIn });
      if (sessionId !== undefined) begin(sessionId);
      const client: McpCaller = Object.assign(caller, { turn: turn.signal, subagents, follow, toolsListed, isTaught });
      if (isClosed) throw new SkillsError("CLOSED", "The tools were closed.");
      const opened = await servers();
      const address = reserve?.(client) ?? (await opened.open(client, transport));
      return {
        address,
        begin,
        cancel() {
          turn.abort();
          turn = new AbortController();
          Object.assign(client, { turn: turn.signal });
        },
        close() {
          address.close().catch(closingFailed);
        },
      };
    },
    async close() {
      isClosed = true;
      // A failure to open was reported to the session that needed it.
      const opened = await opening?.catch(() => undefined);
      await opened?.close().catch(closingFailed);
    },
  };
}
