import { isDeepStrictEqual } from "node:util";
import { type Clock, withinTime } from "../../../base/clock.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import type { SessionSkills } from "../../../skills/skillset.ts";
import type { Notification } from "../../emission.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import type { RunEvent } from "../../../wire/run-event.ts";
import type { BlobFacts } from "../../messages/describe-call.ts";
import type { EquipRequest, ReportedCall } from "../../skill-service.ts";
import type { AgentTools, AgentToolSession, SessionServer } from "./agent-tools.ts";
import { toServerEntry, type Transport } from "../../messages/server-entry.ts";
import { followCall, longestPrinted } from "../../messages/report-tool-call.ts";

/** Our MCP server in one session, with its entry in `mcpServers`. */
export interface SessionTools extends Omit<SessionServer, "address"> {
  readonly entry: JsonRecord;
  /** Cancels the call that the editor knows by this id, if it is running. */
  readonly cancelCall: (toolCallId: string) => void;
}

/** A call of the model that runs. */
interface RunningCall {
  /** Its id in the editor, undefined as long as it is not known. */
  readonly id: () => string | undefined;
  readonly cancel: () => void;
}

interface EquipOptions extends Pick<AgentToolSession, "toolsListed" | "askIn"> {
  readonly tools: AgentTools;
  readonly skills: SessionSkills;
  /** The calls that the editor knows. */
  readonly calls: Pick<ClaimedCalls, "claim">;
  readonly blobKept: (id: string, facts: BlobFacts) => void;
  readonly clock: Clock;
  /** Sends a message to the editor; `written` is called when it was written, or never will be. */
  readonly send: (message: Notification, written: () => void) => void;
}

/** How long opening the server may take. */
const openingTime = 5_000;

/** Opens our MCP server for a session. Rejects if it cannot be opened in time. */
export async function equipSession(
  { sessionId, negotiation, transport, name, reserve }: EquipRequest & { readonly transport: Transport },
  { tools, skills, calls, toolsListed, askIn, blobKept, clock, send }: EquipOptions,
): Promise<SessionTools> {
  const { protocol, agent } = negotiation;
  let id = sessionId;
  const running = new Set<RunningCall>();
  const follow: AgentToolSession["follow"] = ({ toolCallId, tool, input }) => {
    let known: string | undefined;
    // Our server may be called before the agent reports the call to the editor.
    const claim = (): string | undefined => (known ??= toolCallId ?? calls.claim(tool, input));
    claim();
    let early = "";
    let show: ((text: string) => void) | undefined;
    const cancelling = new AbortController();
    const run: RunningCall = { id: claim, cancel: () => cancelling.abort() };
    running.add(run);
    function onEvent(event: RunEvent): void {
      if (event.type === "blob_kept") {
        const { blobId, kind, sizeBytes: size, path } = event;
        blobKept(blobId, { size, kind, ...(path !== undefined && { path }) });
      }
      if (event.type !== "printed") return;
      const call = claim();
      if (call !== undefined && id !== undefined) show ??= followCall({ sessionId: id, toolCallId: call }, send);
      early = `${early}${event.text}`.slice(-longestPrinted);
      if (show === undefined) return;
      show(early);
      early = "";
    }
    return { onEvent, cancelled: cancelling.signal, ended: () => void running.delete(run) };
  };
  const session = { sessionId, agent, transport, reserve, follow, toolsListed, askIn };
  const server = await openInTime(tools.openServer(skills, session), clock);
  return {
    ...server,
    entry: toServerEntry(name, server.address, protocol),
    begin(known) {
      id = known;
      server.begin(known);
    },
    cancelCall(toolCallId) {
      for (const run of running) if (run.id() === toolCallId) run.cancel();
    },
  };
}

async function openInTime(opening: Promise<SessionServer>, clock: Clock): Promise<SessionServer> {
  const server = await withinTime(opening, clock, openingTime);
  if (server !== undefined) return server;
  // Abandoned.
  opening.then((late) => late.close()).catch(() => undefined);
  throw new Error(`it was not ready within ${openingTime} ms`);
}

/** How many calls of a session are remembered. */
const limit = 64;

/** Running calls that the editor knows, until the request for each arrives at our MCP server. */
export class ClaimedCalls {
  readonly #waiting = new LimitedMap<string, ReportedCall>(limit);
  readonly #claimed = new Set<string>();

  reported(call: ReportedCall): void {
    const { toolCallId, isOver } = call;
    if (isOver) {
      this.#waiting.delete(toolCallId);
      this.#claimed.delete(toolCallId);
    } else if (!this.#claimed.has(toolCallId)) this.#waiting.set(toolCallId, call);
  }

  /** The id of the call that a request to our server belongs to: the oldest with this input. Each is returned once. */
  claim(tool: string, input: unknown): string | undefined {
    for (const [id, call] of this.#waiting) {
      if (call.tool !== tool) continue;
      if (call.input !== undefined && !isDeepStrictEqual(call.input, input ?? {})) continue;
      this.#waiting.delete(id);
      this.#claimed.add(id);
      return id;
    }
    return undefined;
  }
}
