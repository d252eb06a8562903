import type { Settings } from "../../options.ts";
import type { ToldOnce } from "../../base/told-once.ts";
import type { Amendment } from "../bytes/amend.ts";
import type { KnownServer } from "../tools/recognise-call.ts";
import { type KnownCalls, openKnownCalls } from "../tools/known-calls.ts";
import { openLessonSlot, type LessonSlot } from "../prompt/lesson-slot.ts";
import { chooseTransport, type Negotiation } from "./negotiation.ts";
import type { JsonRecord } from "../bytes/raw-message.ts";
import { addServer, chooseServerName, serverNames, takesServer } from "../tools/server-entry.ts";
import type { EquipRequest, Lesson, ServiceConnection, SessionKey } from "../service/skill-service.ts";
import { addToSystemPrompt } from "../prompt/teaching.ts";
import { withinTime } from "./within-time.ts";

/** A session whose request is on its way to the agent, or about to be. */
export interface Opening {
  readonly kind: "open";
  readonly key: SessionKey;
  /** Unknown where the agent chooses it. */
  readonly sessionId: string | undefined;
  /** Our MCP server, once the agent is told of it. */
  server: KnownServer | undefined;
  /** The calls of its tools that the editor was told of. */
  calls: KnownCalls | undefined;
  /** Its model is told of skills. */
  isTaught: boolean;
  readonly lesson: LessonSlot;
  /** The session was opened or refused: what is settled later comes too late. */
  isOver: boolean;
}

export interface OpeningsOptions {
  readonly service: ServiceConnection;
  readonly settings: Pick<Settings, "tools" | "teach" | "clock">;
  /** The agent's answer to `initialize`; undefined where there is none to wait for. */
  readonly negotiation: () => Promise<Negotiation | undefined>;
  readonly tellOnce: ToldOnce["tellOnce"];
}

export interface Openings {
  open(params: JsonRecord, sessionId: string | undefined): Opening;
  /** How the request is to be amended; never rejects, for a session goes on without tools. Undefined where none are served. */
  equip(opening: Opening, params: JsonRecord): Promise<readonly Amendment[]> | undefined;
  /** What the model of a session is to be told has changed. */
  prepared(key: SessionKey, lesson: Lesson | undefined): void;
  /** The session ended, or was never opened. */
  release(opening: Opening): void;
}

/** An editor may open a session without waiting for the answer to `initialize`. We do: agents take their time to boot. */
const answerTime = 60_000;
/** How long the request that opens a session may wait for our server. */
const equippingTime = 6_000;
/** How long it waits besides, so that the system prompt can name the skills. */
const readingTime = 500;

export function openOpenings({ service, settings, negotiation, tellOnce }: OpeningsOptions): Openings {
  const { teach, clock } = settings;
  const byKey = new Map<SessionKey, Opening>();
  let lastKey = 0;

  async function equip(opening: Opening, params: JsonRecord): Promise<readonly Amendment[]> {
    const agreed = await withinTime(negotiation(), clock, answerTime);
    if (isOver(opening)) return [];
    const transport = agreed && chooseTransport(agreed, settings.tools);
    const name = chooseServerName(params["mcpServers"]);
    const { key, sessionId } = opening;
    const ask = async (request: EquipRequest): Promise<JsonRecord | undefined> =>
      await withinTime(Promise.resolve(service.equip(key, request)), clock, equippingTime);
    if (agreed === undefined || transport === undefined) {
      const why = agreed === undefined ? "its agent did not say what it takes" : "its agent takes none";
      tellOnce("info", `The session has no MCP server of ours: ${why}.`);
      // What its model can do is read files.
      opening.isTaught = agreed !== undefined;
      if (agreed !== undefined) await ask({ sessionId, negotiation: agreed, transport, name });
      return [];
    }
    // Where there is no list, there is no place for a server.
    if (!takesServer(params)) return [];
    const entry = await ask({ sessionId, negotiation: agreed, transport, name });
    if (entry === undefined || isOver(opening)) return [];
    const added = addServer(params, entry);
    opening.server = { name, others: serverNames(params["mcpServers"]) };
    opening.calls = openKnownCalls(opening.server, agreed.facts);
    opening.isTaught = true;
    const taught = teach && agreed.systemPrompt ? await teachAtOnce(opening, params) : undefined;
    return taught === undefined ? [added] : [added, taught];
  }

  async function teachAtOnce({ lesson, key }: Opening, params: JsonRecord): Promise<Amendment | undefined> {
    await withinTime(lesson.ready, clock, readingTime);
    const amendment = lesson.next && addToSystemPrompt(params, lesson.next.text);
    if (amendment !== undefined)
      lesson.take((ticket) => {
        service.taught(key, ticket);
      });
    return amendment;
  }

  return {
    open(params, sessionId) {
      const key = ++lastKey;
      const opening: Opening = {
        kind: "open",
        key,
        sessionId,
        server: undefined,
        calls: undefined,
        isTaught: false,
        lesson: openLessonSlot(),
        isOver: false,
      };
      byKey.set(key, opening);
      service.open(key, directoriesOf(params));
      return opening;
    },
    equip: (opening, params) => (settings.tools === "none" ? undefined : equip(opening, params)),
    prepared(key, lesson) {
      byKey.get(key)?.lesson.prepared(lesson);
    },
    release(opening) {
      opening.isOver = true;
      byKey.delete(opening.key);
      service.release(opening.key);
    },
  };
}

function directoriesOf({ cwd, additionalDirectories }: JsonRecord): {
  cwd: string | undefined;
  additionalDirectories: string[];
} {
  const more = Array.isArray(additionalDirectories) ? additionalDirectories : [];
  return {
    cwd: typeof cwd === "string" ? cwd : undefined,
    additionalDirectories: more.filter((directory) => typeof directory === "string"),
  };
}

/** It changes while we wait. */
function isOver(opening: Opening): boolean {
  return opening.isOver;
}
