import { isDeepStrictEqual } from "node:util";
import { type Clock, withinTime } from "../../../base/clock.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import type { SessionSkills } from "../../../skills/skillset.ts";
import type { Notification } from "../../emission.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import type { BlobFacts } from "../../messages/describe-call.ts";
import type { EquipRequest, ReportedCall } from "../../skill-service.ts";
import type { AgentTools, ToolServerOptions, ToolServer } from "./agent-tools.ts";
import { toServerEntry, type McpTransport } from "../../messages/server-entry.ts";
import { followCall, maxPrintedLength } from "../../messages/report-tool-call.ts";

/** The MCP server of acp-skills in one session, with its entry in `mcpServers`. */
export interface SessionTools extends Omit<ToolServer, "address" | "cancel"> {
  readonly entry: JsonRecord;
  /** Cancels all running calls, or those of some subagents. */
  readonly cancel: (subagents?: readonly string[]) => void;
  /** Cancels the running call that the editor knows by this id, if there is one. */
  readonly cancelCall: (toolCallId: string) => void;
}

/** A running call of the model. */
interface RunningCall {
  /** The id of the call in the editor; undefined as long as it is unknown. */
  readonly id: () => string | undefined;
  readonly subagent: () => string | undefined;
  readonly controller: AbortController;
}

interface EquipOptions extends Pick<ToolServerOptions, "toolsListed" | "askIn"> {
  readonly tools: AgentTools;
  readonly skills: SessionSkills;
  /** The calls that the editor knows. */
  readonly calls: Pick<ClaimedCalls, "claim" | "subagentOf" | "subagents">;
  readonly onBlob: (id: string, facts: BlobFacts) => void;
  readonly clock: Clock;
  /** Sends a message to the editor. `written` is called when the message was written, or never will be. */
  readonly send: (message: Notification, written: () => void) => void;
}

/** The maximum time for opening the server. */
const openingMs = 5_000;

/** Opens the MCP server for a session. Rejects if that fails or takes more than 5 s. */
export async function equipSession(
  { sessionId, negotiation, transport, name, reserve }: EquipRequest & { readonly transport: McpTransport },
  { tools, skills, calls, toolsListed, askIn, onBlob, clock, send }: EquipOptions,
): Promise<SessionTools> {
  const { protocol, agent } = negotiation;
  let id = sessionId;
  const running = new Set<RunningCall>();
  const follow: ToolServerOptions["follow"] = ({ toolCallId, tool, input }) => {
    let known: string | undefined;
    // The server may be called before the agent reports the call to the editor.
    const claim = (): string | undefined => (known ??= toolCallId ?? calls.claim(tool, input));
    claim();
    let early = "";
    let show: ((text: string) => void) | undefined;
    let caller: string | undefined;
    const subagent = (): string | undefined => {
      const call = claim();
      return (caller ??= call === undefined ? undefined : calls.subagentOf(call));
    };
    const run: RunningCall = { id: claim, subagent, controller: new AbortController() };
    running.add(run);
    return {
      subagent,
      signal: run.controller.signal,
      ended: () => void running.delete(run),
      onEvent(event) {
        if (event.type === "blob_kept") {
          const { blobId, kind, sizeBytes: size, path } = event;
          onBlob(blobId, { size, kind, ...(path !== undefined && { path }) });
        }
        if (event.type !== "printed") return;
        const [call, shownIn] = [claim(), subagent() ?? id];
        if (call !== undefined && shownIn !== undefined)
          show ??= followCall({ sessionId: shownIn, toolCallId: call }, send);
        early = `${early}${event.text}`.slice(-maxPrintedLength);
        if (show === undefined) return;
        show(early);
        early = "";
      },
    };
  };
  const { subagents } = calls;
  const session = { sessionId, agent, transport, reserve, subagents, follow, toolsListed, askIn };
  const server = await openInTime(tools.openServer(skills, session), clock);
  return {
    ...server,
    entry: toServerEntry(name, server.address, protocol),
    begin(known) {
      id = known;
      server.begin(known);
    },
    cancel(subagents) {
      if (subagents === undefined) server.cancel();
      else
        for (const { subagent, controller } of running)
          if (subagents.includes(subagent() ?? "")) controller.abort("the subagent");
    },
    cancelCall(toolCallId) {
      for (const { id: idOf, controller } of running) if (idOf() === toolCallId) controller.abort("this call");
    },
  };
}

async function openInTime(opening: Promise<ToolServer>, clock: Clock): Promise<ToolServer> {
  const server = await withinTime(opening, clock, openingMs);
  if (server !== undefined) return server;
  // The late server is closed, because nobody waits for it.
  opening.then((late) => late.close()).catch(() => undefined);
  throw new Error(`it was not ready within ${openingMs} ms`);
}

/** The maximum number of calls that are remembered per session. */
const limit = 256;

interface KnownCall extends ReportedCall {
  readonly isClaimed: boolean;
  /** Whether an equal call of another subagent was open when a request arrived. */
  readonly isUnsure: boolean;
}

/** The running calls that the editor knows, from the report until the end of each. Claims match them to requests at the MCP server. */
export class ClaimedCalls {
  readonly #known = new LimitedMap<string, KnownCall>(limit);
  readonly subagents = { areKnown: false };

  reported(call: ReportedCall): void {
    const { toolCallId, isOver } = call;
    this.subagents.areKnown ||= call.subagent !== undefined;
    const { isClaimed = false, isUnsure = false, subagent } = this.#known.get(toolCallId) ?? {};
    if (isOver) this.#known.delete(toolCallId);
    else this.#known.set(toolCallId, { ...call, subagent: call.subagent ?? subagent, isClaimed, isUnsure });
  }

  /** Finds the id of the call to which a request at the MCP server belongs: the oldest call with this input. Each id is returned once. */
  claim(tool: string, input: unknown): string | undefined {
    const alike = [...this.#known.values()].filter(
      (call) =>
        !call.isClaimed &&
        call.tool === tool &&
        (call.input === undefined || isDeepStrictEqual(call.input, input ?? {})),
    );
    const [oldest] = alike;
    if (oldest === undefined) return undefined;
    if (alike.some(({ subagent }) => subagent !== oldest.subagent))
      for (const call of alike) this.#known.set(call.toolCallId, { ...call, isUnsure: true });
    this.#known.set(oldest.toolCallId, { ...oldest, ...this.#known.get(oldest.toolCallId), isClaimed: true });
    return oldest.toolCallId;
  }

  /** Finds the session id of the subagent that makes a call; undefined if the session itself makes it, or if that is unknown. */
  subagentOf(toolCallId: string): string | undefined {
    const call = this.#known.get(toolCallId);
    return call?.isUnsure === true ? undefined : call?.subagent;
  }
}
