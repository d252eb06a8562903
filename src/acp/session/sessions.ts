import { type Clock, withinTime } from "../../base/clock.ts";
import { LimitedMap } from "../../base/limited-map.ts";
import {
  availableCommandsUpdate,
  sessionInfoUpdate,
  sessionUpdate,
  toolCall,
  toolCallUpdate,
  userMessageChunk,
} from "../../wire/methods.ts";
import { commandsAmendments, type Notification } from "../announce/emission.ts";
import { type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import { openPromptsToldAgain, restoreTitleTold } from "../prompt/told-again.ts";
import type { ListAmendments, ServiceConnection, SessionKey } from "../service/skill-service.ts";
import { describeToPerson } from "../tools/describe-call.ts";
import type { OwnCall } from "../tools/recognise-call.ts";
import { servedTools } from "../../tools/tool.ts";
import { kept, toVerdict, untouched, type Verdict } from "../bytes/amend.ts";
import type { Forms, Negotiation } from "./negotiation.ts";
import type { Opening } from "./openings.ts";

export interface SessionsOptions {
  readonly service: ServiceConnection;
  readonly clock: Clock;
  readonly release: (opening: Opening) => void;
  /** Sends a notification to the editor, after the message that is being processed. */
  readonly tell: (message: Notification) => void;
}

/** A session that the agent has opened and not closed. */
export interface OpenedSession {
  readonly opening: Opening;
  /** The agent's latest list of its own commands. */
  agentCommands: readonly unknown[];
  /** The editor has sent a message about it. */
  isKnown: boolean;
  /** The editor has sent a prompt. */
  isPrompted: boolean;
  /** A prompt has waited until the skills were read. */
  hasWaited: boolean;
}

/** The result of the negotiation in `initialize`. */
export interface Agreed {
  readonly negotiation: Negotiation;
  readonly forms: Forms;
}

/** How long an agent's command list waits for our commands; after that it is forwarded, and sent again with them later. */
const mergingTime = 100;
/** How many sessions may have listed commands before their response arrives. */
const earlyLimit = 64;

/** The sessions of one connection. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #byId = new Map<string, OpenedSession>();
  /** The request that began each session's latest turn. */
  readonly #turns = new Map<string, string | number>();
  /** Command lists that arrived before the response that opens their session. */
  readonly #early = new LimitedMap<string, readonly unknown[]>(earlyLimit);
  /** Sessions that are being loaded: their history arrives before the response that opens them. */
  readonly #loading = new Map<string, Opening>();
  readonly #replays = openPromptsToldAgain();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** The session that a message names. */
  find({ sessionId }: JsonRecord): OpenedSession | undefined {
    return typeof sessionId === "string" ? this.#byId.get(sessionId) : undefined;
  }

  /** The agent is asked to load a session. */
  loads(id: string, opening: Opening): void {
    this.#loading.set(id, opening);
  }

  /** The agent did not open the session. */
  forget(opening: Opening): void {
    for (const [id, loaded] of this.#loading) if (loaded === opening) this.#loading.delete(id);
  }

  /** The agent has opened a session. One with the same id is replaced. */
  begin(id: string, opening: Opening, agreed: Agreed, result: unknown): void {
    const { service, release } = this.#options;
    opening.isOver = true;
    const before = this.#byId.get(id);
    const inResponse = recordAt({ result }, "result")?.["availableCommands"];
    const agentCommands = Array.isArray(inResponse)
      ? (inResponse as unknown[])
      : (this.#early.get(id) ?? before?.agentCommands ?? []);
    this.#early.delete(id);
    this.#loading.delete(id);
    this.#endReplay(id);
    const lesson = this.#replays.takeLesson(id);
    if (lesson !== undefined)
      opening.lesson.heard(lesson, (ticket) => {
        service.taught(opening.key, ticket);
      });
    service.begin(opening.key, { sessionId: id, ...agreed, agentCommands });
    if (before !== undefined) release(before.opening);
    this.#byId.set(id, { opening, agentCommands, isKnown: false, isPrompted: false, hasWaited: false });
  }

  end(id: string): void {
    const session = this.#byId.get(id);
    if (session !== undefined) this.#options.release(session.opening);
    this.#byId.delete(id);
    this.#turns.delete(id);
    this.#replays.end(id);
  }

  /** The agent sent `session/update`, possibly before its session is known. */
  agentTold(message: unknown, params: JsonRecord): Verdict | Promise<Verdict> {
    const { sessionId } = params;
    const update = recordAt(params, "update");
    if (typeof sessionId !== "string" || update === undefined) return untouched;
    const kind = update["sessionUpdate"];
    if (kind === userMessageChunk) {
      const told = this.#replays.chunk(sessionId, update);
      return told.shown ? toVerdict(told.amendments) : kept;
    }
    this.#endReplay(sessionId);
    switch (kind) {
      case sessionInfoUpdate:
        return toVerdict(restoreTitleTold(update));
      case toolCall:
      case toolCallUpdate:
        return this.#callTold(sessionId, update);
      case availableCommandsUpdate:
        return this.#agentListed(sessionId, update["availableCommands"], message);
      default:
        return untouched;
    }
  }

  /** The editor knows of a call of one of our tools. */
  noteCall(key: SessionKey, { toolCallId, status }: JsonRecord, { tool, input }: OwnCall): void {
    if (typeof toolCallId !== "string" || servedTools.get(tool)?.executes !== true) return;
    const isOver = status === "completed" || status === "failed";
    this.#options.service.callTold(key, { toolCallId, tool, input, isOver });
  }

  /** The editor sent a message that names a session. */
  editorNamed(session: OpenedSession, isPrompt: boolean): void {
    if (session.isKnown && (session.isPrompted || !isPrompt)) return;
    session.isKnown = true;
    session.isPrompted ||= isPrompt;
    this.#options.service.heard(session.opening.key, isPrompt);
  }

  /** A turn began with this request. */
  turnBegan({ sessionId }: JsonRecord, request: string | number): void {
    if (typeof sessionId === "string" && this.#byId.has(sessionId)) this.#turns.set(sessionId, request);
  }

  /** The user cancelled a turn: running calls of our tools end, whatever the agent does. */
  turnCancelled(params: JsonRecord): void {
    const session = this.find(params);
    if (session !== undefined) this.#options.service.cancelTurn(session.opening.key);
  }

  /** The same, for a cancellation of the request that began the turn. */
  requestCancelled(request: unknown): void {
    for (const [sessionId, began] of this.#turns) if (began === request) this.turnCancelled({ sessionId });
  }

  close(): void {
    this.#byId.clear();
    this.#loading.clear();
    this.#turns.clear();
    this.#early.clear();
  }

  /** Sends text that was held back as a possible beginning of our text. */
  #endReplay(sessionId: string): void {
    const text = this.#replays.other(sessionId);
    if (text === "") return;
    const update = { sessionUpdate: userMessageChunk, content: { type: "text", text } };
    this.#options.tell({ jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } });
  }

  #callTold(sessionId: string, update: JsonRecord): Verdict {
    const opening = this.#byId.get(sessionId)?.opening ?? this.#loading.get(sessionId);
    const call = opening?.calls?.learn(update);
    if (opening === undefined || call === undefined) return untouched;
    this.noteCall(opening.key, update, call);
    return toVerdict(describeToPerson(update, ["params", "update"], call));
  }

  #agentListed(sessionId: string, commands: unknown, message: unknown): Verdict | Promise<Verdict> {
    if (!Array.isArray(commands)) return untouched;
    const session = this.#byId.get(sessionId);
    if (session === undefined) {
      this.#early.delete(sessionId);
      this.#early.set(sessionId, commands);
      return untouched;
    }
    session.agentCommands = commands;
    const { key } = session.opening;
    const merged = this.#options.service.agentListed(key, commands);
    if (merged instanceof Promise) return this.#mergeInTime(key, message, merged);
    return merged === undefined ? untouched : toVerdict(commandsAmendments(message, merged));
  }

  async #mergeInTime(
    key: SessionKey,
    message: unknown,
    merging: Promise<ListAmendments | undefined>,
  ): Promise<Verdict> {
    const { service, clock } = this.#options;
    const wrapped = merging.then((amendments) => ({ amendments }));
    const merged = await withinTime(wrapped, clock, mergingTime);
    if (merged === undefined) service.listPassed(key);
    return merged?.amendments === undefined ? untouched : toVerdict(commandsAmendments(message, merged.amendments));
  }
}
