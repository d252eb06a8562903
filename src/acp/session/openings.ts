import { createDeferred } from "../../base/deferred.ts";
import type { ToldOnce } from "../../base/log.ts";
import type { Settings } from "../../options.ts";
import type { Amendment } from "../bytes/amend.ts";
import type { JsonRecord } from "../bytes/raw-message.ts";
import { addToSystemPrompt } from "../prompt/teaching.ts";
import type { Directories, Lesson, ServiceConnection, SessionKey } from "../service/skill-service.ts";
import { type KnownCalls, type KnownServer, openKnownCalls } from "../tools/recognise-call.ts";
import { addServer, chooseServerName, serverNames, takesServer } from "../tools/server-entry.ts";
import { chooseTransport, type Negotiation } from "./negotiation.ts";
import { withinTime } from "../../base/clock.ts";

/** A session that the editor has asked for. */
export interface Opening {
  readonly kind: "open";
  readonly key: SessionKey;
  /** Undefined if the agent chooses it. */
  readonly sessionId: string | undefined;
  /** Our MCP server, once the agent gets it. */
  server: KnownServer | undefined;
  /** The calls of its tools that the editor knows. */
  calls: KnownCalls | undefined;
  /** Lessons about skills are added to its prompts. */
  isTaught: boolean;
  readonly lesson: LessonSlot;
  /** It was opened, refused or released: the request can no longer be amended. */
  isOver: boolean;
}

interface OpeningsOptions {
  readonly service: ServiceConnection;
  readonly settings: Pick<Settings, "tools" | "teach" | "clock">;
  /** The result of `initialize`; undefined if there will be none. */
  readonly negotiation: () => Promise<Negotiation | undefined>;
  readonly tellOnce: ToldOnce["tellOnce"];
}

/** An editor may open a session without waiting for the response to `initialize`; agents can take long to start. */
const answerTime = 60_000;
/** How long the request waits for our MCP server. */
const equippingTime = 6_000;
/** How long it waits for skills to be read, so that the system prompt can name them. */
const readingTime = 500;

/** The requests that open sessions. */
export class Openings {
  readonly #options: OpeningsOptions;
  readonly #byKey = new Map<SessionKey, Opening>();
  #lastKey = 0;

  constructor(options: OpeningsOptions) {
    this.#options = options;
  }

  open(params: JsonRecord, sessionId: string | undefined): Opening {
    const opening: Opening = {
      kind: "open",
      key: ++this.#lastKey,
      sessionId,
      server: undefined,
      calls: undefined,
      isTaught: false,
      lesson: openLessonSlot(),
      isOver: false,
    };
    this.#byKey.set(opening.key, opening);
    this.#options.service.open(opening.key, directoriesOf(params));
    return opening;
  }

  /** Amendments that add our tools to the session, within a time limit; without tools the session continues. */
  async equip(opening: Opening, params: JsonRecord): Promise<readonly Amendment[]> {
    const { service, settings, tellOnce } = this.#options;
    const { clock, teach } = settings;
    const negotiation = await withinTime(this.#options.negotiation(), clock, answerTime);
    // It may change while we wait.
    const isOver = (): boolean => opening.isOver;
    if (isOver()) return [];
    if (negotiation === undefined) {
      tellOnce("info", "No MCP server was added to the session: the agent has not answered initialize.");
      return [];
    }
    const transport = chooseTransport(negotiation, settings.tools);
    if (transport === undefined) {
      tellOnce("info", "No MCP server was added to the session: the agent does not support any.");
      // Its model can read the files of skills.
      opening.isTaught = true;
    } else if (!takesServer(params)) return [];
    const name = chooseServerName(params["mcpServers"]);
    const request = { sessionId: opening.sessionId, negotiation, transport, name };
    const entry = await withinTime(Promise.resolve(service.equip(opening.key, request)), clock, equippingTime);
    if (entry === undefined || isOver()) return [];
    opening.server = { name, others: serverNames(params["mcpServers"]) };
    opening.calls = openKnownCalls(opening.server, negotiation.facts);
    opening.isTaught = true;
    const lesson = teach && negotiation.systemPrompt ? await this.#teachAtOnce(opening, params) : undefined;
    return [addServer(params, entry), ...(lesson === undefined ? [] : [lesson])];
  }

  /** The next lesson of a session has changed. */
  prepared(key: SessionKey, lesson: Lesson | undefined): void {
    this.#byKey.get(key)?.lesson.prepared(lesson);
  }

  /** The session ended, or was not opened. */
  release(opening: Opening): void {
    opening.isOver = true;
    this.#byKey.delete(opening.key);
    this.#options.service.release(opening.key);
  }

  async #teachAtOnce({ lesson, key }: Opening, params: JsonRecord): Promise<Amendment | undefined> {
    const { service, settings } = this.#options;
    await withinTime(lesson.ready, settings.clock, readingTime);
    const amendment = lesson.next && addToSystemPrompt(params, lesson.next.text);
    if (amendment !== undefined)
      lesson.take((ticket) => {
        service.taught(key, ticket);
      });
    return amendment;
  }
}

function directoriesOf({ cwd, additionalDirectories }: JsonRecord): Directories {
  const more: unknown[] = Array.isArray(additionalDirectories) ? additionalDirectories : [];
  return {
    cwd: typeof cwd === "string" ? cwd : undefined,
    additionalDirectories: more.filter((directory) => typeof directory === "string"),
  };
}

/** The lesson for one session's next prompt. */
interface LessonSlot {
  /** Resolves when the skills were read and the first lesson, if any, is known. */
  readonly ready: Promise<void>;
  readonly isReady: boolean;
  readonly next: Lesson | undefined;
  prepared(lesson: Lesson | undefined): void;
  /** The session's history contains the lesson with this label; if it is the next one, `told` is called. */
  heard(label: string, told: (ticket: number) => void): void;
  /** The lesson was added to a message. */
  take(told: (ticket: number) => void): void;
}

function openLessonSlot(): LessonSlot {
  let next: Lesson | undefined;
  let isReady = false;
  const { promise: ready, resolve: resolveReady } = createDeferred();
  let inHistory: { readonly label: string; readonly told: (ticket: number) => void } | undefined;
  function skipHeard(): void {
    if (next === undefined || next.label !== inHistory?.label) return;
    inHistory.told(next.ticket);
    next = undefined;
  }
  return {
    ready,
    get isReady() {
      return isReady;
    },
    get next() {
      return next;
    },
    prepared(lesson) {
      next = lesson;
      skipHeard();
      isReady = true;
      resolveReady();
    },
    heard(label, told) {
      inHistory = { label, told };
      skipHeard();
    },
    take(told) {
      const lesson = next;
      next = undefined;
      inHistory = undefined;
      if (lesson !== undefined) told(lesson.ticket);
    },
  };
}
