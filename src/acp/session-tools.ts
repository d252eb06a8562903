import type { Clock } from "../clock.ts";
import type { SessionSkills } from "../skillset.ts";
import type { AgentTools, SessionServer } from "./agent-tools.ts";
import type { Amendment } from "./amend.ts";
import type { Notification } from "./emission.ts";
import type { KnownServer } from "./recognise-call.ts";
import { type Lessons, openLessons } from "./lessons.ts";
import type { Negotiation } from "./negotiation.ts";
import type { JsonRecord } from "./raw-message.ts";
import { addServer, chooseServerName, serverNames, toServerEntry, type Transport } from "./server-entry.ts";
import { followCall } from "./tool-call-messages.ts";
import { addToSystemPrompt, toTaught } from "./teaching.ts";
import { withinTime } from "./within-time.ts";

/** What one session's model has of our tools. */
export interface SessionTools {
  readonly server: KnownServer;
  /** Undefined where nothing is to be told. */
  readonly lessons: Lessons | undefined;
  readonly begin: (sessionId: string) => void;
  /** The user ended the turn: what the model has running of our tools ends too. */
  readonly cancel: () => void;
  readonly close: () => void;
}

export interface EquipOptions {
  readonly tools: AgentTools;
  readonly skills: SessionSkills;
  readonly negotiation: Negotiation;
  readonly transport: Transport;
  readonly teach: boolean;
  readonly clock: Clock;
  /** Puts a message of ours on its way to the editor. */
  readonly send: (message: Notification) => void;
}

/** How long the request that opens a session may wait for our server. */
const openingTime = 5_000;
/** How long it waits besides, so that the system prompt can name the skills. */
const readingTime = 500;

/**
 * Opens our MCP server for the session that a request asks for, and says how the request is to be amended so that the agent knows
 * of it. Undefined where the request has no place for it. Rejects where the server cannot be opened in time.
 */
export async function equipSession(
  params: JsonRecord,
  sessionId: string | undefined,
  { tools, skills, negotiation, transport, teach, clock, send }: EquipOptions,
): Promise<{ readonly tools: SessionTools; readonly amendments: readonly Amendment[] } | undefined> {
  const { mcpServers } = params;
  const { catalog } = skills;
  const name = chooseServerName(mcpServers);
  const { protocol, agent } = negotiation;
  let id = sessionId;
  const follow = (toolCallId: string): ((text: string) => void) =>
    id === undefined ? () => undefined : followCall({ sessionId: id, toolCallId }, send);
  const server = await openInTime(tools.openServer(skills, { sessionId, agent, transport, follow }), clock);
  const added = addServer(params, toServerEntry(name, server.address, { protocol, bridge: tools.bridge }));
  if (added === undefined) {
    server.close();
    return undefined;
  }
  const lessons = teach ? openLessons({ agent, server: name }) : undefined;
  const taught = negotiation.systemPrompt && lessons ? await teachAtOnce(params, lessons, catalog, clock) : undefined;
  return {
    tools: {
      server: { name, others: serverNames(mcpServers) },
      lessons,
      begin(known) {
        id = known;
        server.begin(known);
      },
      cancel: server.cancel,
      close: server.close,
    },
    amendments: taught === undefined ? [added] : [added, taught],
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

async function teachAtOnce(
  params: JsonRecord,
  lessons: Lessons,
  catalog: SessionSkills["catalog"],
  clock: Clock,
): Promise<Amendment | undefined> {
  const snapshot = await withinTime(catalog.ready, clock, readingTime);
  const lesson = snapshot && lessons.next(toTaught(snapshot.skills));
  const amendment = lesson && addToSystemPrompt(params, lesson.text);
  if (amendment !== undefined) lesson?.told();
  return amendment;
}
