import { fileURLToPath } from "node:url";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { Settings } from "../../options.ts";
import type { ownerOf, Toolkit } from "../../toolkit.ts";
import type { Bridge, ServerAddress, Transport } from "./server-entry.ts";
import { urlOf } from "../../base/url-of.ts";

type SessionCatalog = SessionSkills["catalog"];
/** What a caller has: the skills, and the directory they are used in. */
type CallerSkills = Pick<SessionSkills, "catalog" | "directory" | "identity">;

/** An MCP server of ours, for the session that is being opened. */
export interface SessionServer {
  readonly address: ServerAddress;
  /** Says which session it is. What the model does before, it does for a session of its own. */
  readonly begin: (sessionId: string) => void;
  /** Ends the calls that are under way: the turn they belong to was cancelled. */
  readonly cancel: () => void;
  /** May be called more than once; never throws. */
  readonly close: () => void;
}

/** Who calls a tool for an editor. */
export interface EditorCaller {
  readonly sessionId: string | undefined;
  /** What the session's agent calls itself. */
  readonly agent?: string;
  readonly skills: CallerSkills;
  /** Told what code prints while it runs. */
  readonly onPrint?: (text: string) => void;
}

/** One call, as far as it tells an editor's calls apart. */
interface FollowedCall {
  /** The id by which the agent's editor knows it, where the agent says so. */
  readonly toolCallId: string | undefined;
  readonly tool: string;
  readonly input: unknown;
}

export interface OpenedSession {
  readonly sessionId: string | undefined;
  /** What the session's agent calls itself. */
  readonly agent: string;
  /** How its agent reaches the server. */
  readonly transport: Transport;
  /** What is to be told what a call prints, where the session's editor knows that call. */
  readonly follow: (call: FollowedCall) => ((text: string) => void) | undefined;
  /** The agent has asked for the tools, so that its model has them. */
  readonly onReached: () => void;
}

/** The tools of one connection, to its editor and to its agent's model. */
export interface AgentTools {
  readonly bridge: Bridge;
  /** Loads what a session needs, ahead of the first: an agent takes its time to boot. Never throws. */
  prepare(): void;
  /** Throws as the toolbox does. */
  call(name: string, args: unknown, caller: EditorCaller, signal: AbortSignal): Promise<unknown>;
  /** Opens a server for a session whose id may not be known yet. */
  openServer(skills: CallerSkills, session: OpenedSession): Promise<SessionServer>;
  /** Closes every server, and what is behind them. May be called more than once; never throws. */
  close(): Promise<void>;
}

/** Who calls through a session's server; which session that is may be known only later. */
interface SessionCaller {
  sessionId?: string;
  owner: string;
  readonly skills: SessionCatalog;
  readonly project?: string;
  readonly turn: () => AbortSignal;
  readonly follow: OpenedSession["follow"];
  readonly onReached: () => void;
}

/** What is needed of a toolkit. */
type ToolkitPart = Pick<Toolkit, "openMcp" | "close"> & { readonly toolbox: Pick<Toolkit["toolbox"], "call"> };

/** What is needed of `toolkit.ts`. */
export interface ToolkitModule {
  /** Loads the MCP library. */
  readonly loadMcpServers: () => Promise<unknown>;
  readonly openToolkit: (settings: Settings) => ToolkitPart;
  readonly ownerOf: typeof ownerOf;
}

/** The bridge is the command line of this very package. */
const ownBridge: Bridge = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../cli/main.js", urlOf(import.meta))), "mcp-bridge"],
};

/** Loads the tools when they are needed for the first time, or are said to be needed soon: they bring zod and the MCP library. */
export function openAgentTools(
  settings: Settings,
  {
    load = () => import("../../toolkit.ts"),
    bridge = ownBridge,
  }: { readonly load?: () => Promise<ToolkitModule>; readonly bridge?: Bridge } = {},
): AgentTools {
  const { log } = settings;
  let opening: Promise<OpenToolkit> | undefined;
  let isClosed = false;

  async function open(): Promise<OpenToolkit> {
    const { openToolkit, ownerOf } = await load();
    if (isClosed) throw new Error("the tools were closed");
    return { toolkit: openToolkit(settings), ownerOf };
  }

  /** A failure is not kept: the next session may have more luck. */
  function opened(): Promise<OpenToolkit> {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  return {
    bridge,
    prepare() {
      // What cannot be loaded is told when it is needed.
      load()
        .then(({ loadMcpServers }) => loadMcpServers())
        .catch(() => undefined);
    },
    async call(name, args, { sessionId, agent, skills: { catalog, directory, identity }, onPrint }, signal) {
      const { toolkit, ownerOf } = await opened();
      const context = {
        ...(sessionId !== undefined && { sessionId }),
        owner: ownerOf(sessionId, { agent, directory }),
        door: "acp",
        skills: catalog,
        ...(directory !== undefined && { project: directory, projectIdentity: identity }),
        ...(onPrint !== undefined && { onPrint }),
      } as const;
      return await toolkit.toolbox.call(name, args, context, signal);
    },
    async openServer({ catalog, directory, identity }, { sessionId, agent, transport, follow, onReached }) {
      const { toolkit, ownerOf } = await opened();
      let turn = new AbortController();
      const caller: SessionCaller = {
        owner: `opening:${crypto.randomUUID()}`,
        skills: catalog,
        ...(directory !== undefined && { project: directory, projectIdentity: identity }),
        turn: () => turn.signal,
        follow,
        onReached,
      };
      const begin = (id: string): void => {
        caller.sessionId = id;
        caller.owner = ownerOf(id, { agent, directory });
      };
      if (sessionId !== undefined) begin(sessionId);
      const address = await toolkit.openMcp(caller, transport);
      return {
        address,
        begin,
        cancel() {
          turn.abort();
          turn = new AbortController();
        },
        close() {
          address.close().catch((error: unknown) => log("warning", `Closing an MCP server failed: ${String(error)}`));
        },
      };
    },
    async close() {
      isClosed = true;
      // What could not be opened was told when it was.
      const kit = await opening?.catch(() => undefined);
      await kit?.toolkit.close();
    },
  };
}

interface OpenToolkit {
  readonly toolkit: ToolkitPart;
  readonly ownerOf: typeof ownerOf;
}
