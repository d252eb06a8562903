import type { Clock } from "../../base/clock.ts";
import { onPrinted } from "../../runs/run-event.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import type { AgentTools, OpenedSession, SessionServer } from "./agent-tools.ts";
import type { ClaimedCalls } from "./claimed-calls.ts";
import type { Notification } from "../announce/emission.ts";
import type { JsonRecord } from "../bytes/raw-message.ts";
import { toServerEntry, type Transport } from "./server-entry.ts";
import type { EquipRequest } from "../service/skill-service.ts";
import { followCall, longestPrinted } from "./tool-call-messages.ts";
import { withinTime } from "../session/within-time.ts";

/** What one session's model has of our tools. */
export interface SessionTools {
  /** Our entry in `mcpServers`. */
  readonly entry: JsonRecord;
  readonly begin: (sessionId: string) => void;
  /** The user ended the turn: what the model has running of our tools ends too. */
  readonly cancel: () => void;
  readonly close: () => void;
}

export interface EquipOptions {
  readonly tools: AgentTools;
  readonly skills: SessionSkills;
  /** The calls that the editor was told of. */
  readonly calls: Pick<ClaimedCalls, "claim">;
  /** Called when the agent asks for the tools. */
  readonly onReached: () => void;
  readonly clock: Clock;
  /** Puts a message of ours on its way to the editor; `written` is called once it has left, or never will. */
  readonly send: (message: Notification, written: () => void) => void;
}

/** How long the request that opens a session may wait for our server. */
const openingTime = 5_000;

/** Opens our MCP server for the session that a request asks for. Rejects where the server cannot be opened in time. */
export async function equipSession(
  { sessionId, negotiation, transport, name }: EquipRequest & { readonly transport: Transport },
  { tools, skills, calls, onReached, clock, send }: EquipOptions,
): Promise<SessionTools> {
  const { protocol, agent } = negotiation;
  let id = sessionId;
  const follow: OpenedSession["follow"] = ({ toolCallId, tool, input }) => {
    const claim = (): string | undefined => toolCallId ?? calls.claim(tool, input);
    let call = claim();
    let early = "";
    let show: ((text: string) => void) | undefined;
    return onPrinted((text) => {
      // The program that calls us may be faster than the one that tells the editor of the call.
      call ??= claim();
      if (call !== undefined && id !== undefined) show ??= followCall({ sessionId: id, toolCallId: call }, send);
      early = `${early}${text}`.slice(-longestPrinted);
      if (show === undefined) return;
      show(early);
      early = "";
    });
  };
  const session = { sessionId, agent, transport, follow, onReached };
  const server = await openInTime(tools.openServer(skills, session), clock);
  return {
    entry: toServerEntry(name, server.address, { protocol, bridge: tools.bridge }),
    begin(known) {
      id = known;
      server.begin(known);
    },
    cancel: server.cancel,
    close: server.close,
  };
}

async function openInTime(opening: Promise<SessionServer>, clock: Clock): Promise<SessionServer> {
  const server = await withinTime(opening, clock, openingTime);
  if (server !== undefined) return server;
  opening.then(
    (late) => {
      late.close();
    },
    () => undefined, // It is given up anyway.
  );
  throw new Error(`it was not ready within ${openingTime} ms`);
}
