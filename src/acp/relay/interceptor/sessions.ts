import { withinTime } from "../../../base/clock.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import {
  availableCommandsUpdate,
  sessionInfoUpdate,
  sessionUpdate,
  toolCall,
  toolCallUpdate,
  userMessageChunk,
} from "../../../wire/methods.ts";
import { commandsAmendments } from "../../emission.ts";
import { type Verdict, toVerdict, untouched } from "../../messages/amend.ts";
import { type JsonRecord, recordAt } from "../../messages/raw-message.ts";
import { Replays, Titles } from "./replays.ts";
import type { ListAmendments, SessionKey } from "../../skill-service.ts";
import { type OwnCall, describeToPerson, isFinal } from "../../messages/describe-call.ts";
import type { Forms, Negotiation } from "../../negotiation.ts";
import { type RelayContext, RelayedSession } from "./relayed-session.ts";
import { servedTools } from "../../../wire/tools.ts";

/** The result of the negotiation in `initialize`. */
export interface Agreed {
  readonly negotiation: Negotiation;
  readonly forms: Forms;
}

/** How long an agent's command list waits for our commands; after that it is forwarded, and sent again with them later. */
const mergeTimeout = 100;
/** How many sessions may have listed commands before their response arrives. */
const earlyLimit = 64;

/** The sessions of one connection, as the relay knows them. */
export class Sessions {
  readonly #context: RelayContext;
  readonly #byKey = new Map<SessionKey, RelayedSession>();
  /** Sessions that the editor has requested and that have not ended. */
  readonly byKey: ReadonlyMap<SessionKey, RelayedSession> = this.#byKey;
  /** Sessions that the agent has opened. */
  readonly #byId = new Map<string, RelayedSession>();
  /** Sessions that are being loaded: their history arrives before the response that opens them. */
  readonly #loading = new Map<string, RelayedSession>();
  /** The request that began each session's latest turn. */
  readonly #turns = new Map<string, string | number>();
  /** Command lists that arrived before the response that opens their session. */
  readonly #early = new LimitedMap<string, readonly unknown[]>(earlyLimit);
  readonly #replays = new Replays();
  readonly titles = new Titles();
  #openCalls: readonly string[] = [];
  #lastKey = 0;

  constructor(context: RelayContext) {
    this.#context = context;
  }

  /** The opened session that a message names. */
  find({ sessionId }: JsonRecord): RelayedSession | undefined {
    return typeof sessionId === "string" ? this.#byId.get(sessionId) : undefined;
  }

  /** Every session that the agent has opened, the latest first. */
  opened(): readonly RelayedSession[] {
    return [...this.#byId.values()].reverse();
  }

  /** The editor asks for a session; `id` is undefined for a new one. */
  open(params: JsonRecord, id: string | undefined): RelayedSession {
    const session = new RelayedSession(++this.#lastKey, id, params, this.#context);
    this.#byKey.set(session.key, session);
    if (id !== undefined) this.#loading.set(id, session);
    return session;
  }

  /** The session ended, or was not opened. */
  release(session: RelayedSession): void {
    for (const [id, loaded] of this.#loading) if (loaded === session) this.#loading.delete(id);
    this.#byKey.delete(session.key);
    session.release();
  }

  /** The agent has opened a session. One with the same id is replaced. */
  begin(id: string, session: RelayedSession, agreed: Agreed, result: unknown): void {
    session.isOver = true;
    const before = this.#byId.get(id);
    const inResponse = recordAt({ result }, "result")?.["availableCommands"];
    session.agentCommands = Array.isArray(inResponse)
      ? (inResponse as unknown[])
      : (this.#early.get(id) ?? before?.agentCommands ?? []);
    this.#early.delete(id);
    this.#loading.delete(id);
    this.#endReplay(id);
    const label = this.#replays.end(id);
    if (label !== undefined) session.indexInHistory(label);
    session.service.begin(session.key, { sessionId: id, ...agreed, agentCommands: session.agentCommands });
    if (before !== undefined) this.release(before);
    this.#byId.set(id, session);
  }

  end(id: string): void {
    const session = this.#byId.get(id);
    if (session !== undefined) this.release(session);
    this.#byId.delete(id);
    this.#turns.delete(id);
    this.#replays.end(id);
  }

  /** The agent sent `session/update`, possibly before its session is known. */
  agentUpdated(message: unknown, params: JsonRecord): Verdict | Promise<Verdict> {
    const { sessionId } = params;
    const update = recordAt(params, "update");
    if (typeof sessionId !== "string" || update === undefined) return untouched;
    const kind = update["sessionUpdate"];
    if (kind === userMessageChunk) return this.#replays.chunk(sessionId, update);
    this.#endReplay(sessionId);
    switch (kind) {
      case sessionInfoUpdate:
        return toVerdict(this.titles.restoreAt(update, "title", ["params", "update"]));
      case toolCall:
      case toolCallUpdate:
        return this.#toolCalled(sessionId, update);
      case availableCommandsUpdate:
        return this.#commandsListed(sessionId, update["availableCommands"], message);
      default:
        return untouched;
    }
  }

  /** Ids of the calls of our tools that have not ended; the same list as long as it has the same ids. */
  get openCalls(): readonly string[] {
    // Read for each block of lines: nothing is allocated while no call is open.
    let ids: readonly string[] = [];
    for (const sessions of [this.#byId, this.#loading])
      for (const { calls } of sessions.values())
        if (calls !== undefined && calls.open.length > 0) ids = ids.length === 0 ? calls.open : [...ids, ...calls.open];
    if (ids.length !== this.#openCalls.length || ids.some((id, place) => id !== this.#openCalls[place]))
      this.#openCalls = ids;
    return this.#openCalls;
  }

  /** The editor knows of a call of one of our tools. */
  reportCall({ service, key }: RelayedSession, { toolCallId, status }: JsonRecord, { tool, input }: OwnCall): void {
    if (typeof toolCallId !== "string" || servedTools.get(tool)?.executes !== true) return;
    const isOver = isFinal(status);
    service.callReported(key, { toolCallId, tool, input, isOver });
  }

  /** The editor sent a message that names a session. */
  editorNamed(session: RelayedSession, isPrompt: boolean): void {
    if (session.isKnown && (session.isPrompted || !isPrompt)) return;
    session.isKnown = true;
    session.isPrompted ||= isPrompt;
    session.service.named(session.key, isPrompt);
  }

  /** A turn began with this request. */
  turnBegan(params: JsonRecord, request: string | number): void {
    const session = this.find(params);
    if (session === undefined) return;
    this.#turns.set(String(params["sessionId"]), request);
    session.service.turnBegan(session.key);
  }

  /** The user cancelled a turn: running calls of our tools end, whatever the agent does. */
  turnCancelled(params: JsonRecord): void {
    const session = this.find(params);
    session?.service.cancelTurn(session.key);
  }

  /** The user cancelled a call: if it is one of our tools, it ends, whatever the agent does. */
  callCancelled(params: JsonRecord): void {
    const { toolCallId } = params;
    const session = this.find(params);
    if (typeof toolCallId !== "string" || session?.calls?.find(toolCallId) === undefined) return;
    session.service.cancelToolCall(session.key, toolCallId);
  }

  /** The user cancelled the request that began a turn. */
  requestCancelled(request: unknown): void {
    for (const [sessionId, began] of this.#turns) if (began === request) this.turnCancelled({ sessionId });
  }

  close(): void {
    this.#byKey.clear();
    this.#byId.clear();
    this.#loading.clear();
    this.#turns.clear();
    this.#early.clear();
  }

  /** Sends text that was held back as a possible beginning of our text. */
  #endReplay(sessionId: string): void {
    const text = this.#replays.endPrompt(sessionId);
    if (text === "") return;
    const update = { sessionUpdate: userMessageChunk, content: { type: "text", text } };
    this.#context.notify({ jsonrpc: "2.0", method: sessionUpdate, params: { sessionId, update } });
  }

  #toolCalled(sessionId: string, update: JsonRecord): Verdict {
    const session = this.#byId.get(sessionId) ?? this.#loading.get(sessionId);
    const call = session?.calls?.record(update);
    if (session === undefined || call === undefined) return untouched;
    this.reportCall(session, update, call);
    return toVerdict(describeToPerson(update, ["params", "update"], call));
  }

  #commandsListed(sessionId: string, commands: unknown, message: unknown): Verdict | Promise<Verdict> {
    if (!Array.isArray(commands)) return untouched;
    const session = this.#byId.get(sessionId);
    if (session === undefined) {
      this.#early.delete(sessionId);
      this.#early.set(sessionId, commands);
      return untouched;
    }
    session.agentCommands = commands;
    const merged = session.service.agentListed(session.key, commands);
    if (merged instanceof Promise) return this.#mergeInTime(session, message, merged);
    return merged === undefined ? untouched : toVerdict(commandsAmendments(message, merged));
  }

  async #mergeInTime(
    { service, key }: RelayedSession,
    message: unknown,
    merging: Promise<ListAmendments | undefined>,
  ): Promise<Verdict> {
    const wrapped = merging.then((amendments) => ({ amendments }));
    const merged = await withinTime(wrapped, this.#context.settings.clock, mergeTimeout);
    if (merged === undefined) service.listPassed(key);
    return merged?.amendments === undefined ? untouched : toVerdict(commandsAmendments(message, merged.amendments));
  }
}
