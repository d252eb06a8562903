import { withinTime } from "../../../base/clock.ts";
import { LimitedMap } from "../../../base/limited-map.ts";
import { quoted } from "../../../base/text/quoted.ts";
import {
  availableCommandsUpdate,
  sessionInfoUpdate,
  subagentUpdate,
  toolCall,
  toolCallUpdate,
} from "../../../wire/methods.ts";
import { commandsAmendments } from "../../emission.ts";
import { type Verdict, toVerdict, untouched } from "../../messages/amend.ts";
import { type JsonRecord, isRecord, recordAt } from "../../messages/raw-message.ts";
import { Replays, Titles } from "./replays.ts";
import type { ListAmendments, SessionKey } from "../../skill-service.ts";
import { type OwnCall, describeToPerson, isFinal } from "../../messages/describe-call.ts";
import type { Forms, Negotiation } from "../../negotiation.ts";
import { recogniseCall } from "./recognise-call.ts";
import { type RelayContext, RelayedSession } from "./relayed-session.ts";
import { type CallingSession, Subagents } from "./subagents.ts";
import { servedTools } from "../../../wire/tools.ts";

/** The result of the negotiation in `initialize`. */
export interface Agreed {
  readonly negotiation: Negotiation;
  readonly forms: Forms;
}

/** How long an agent's command list waits for our commands; after that it is forwarded, and sent again with them later. */
const mergeTimeoutMs = 100;
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
  readonly #replays: Replays;
  readonly subagents: Subagents;
  readonly titles = new Titles();
  #openCalls: readonly string[] = [];
  #lastKey = 0;

  constructor(context: RelayContext) {
    this.#context = context;
    this.#replays = new Replays(context.notify);
    this.subagents = new Subagents({
      find: (id) => this.#byId.get(id) ?? this.#loading.get(id),
      forgotten: (id) => void this.#replays.end(id),
      logOnce: context.logOnce,
    });
  }

  /** The opened session that a message names. */
  find({ sessionId }: JsonRecord): RelayedSession | undefined {
    return typeof sessionId === "string" ? this.#byId.get(sessionId) : undefined;
  }

  /** Who makes a call that a message names: its session, or where else the call is known, if the agent sends requests of subagents elsewhere. */
  caller(sessionId: unknown, toolCallId: unknown): CallingSession | undefined {
    if (typeof sessionId !== "string") return undefined;
    const opened = this.#byId.get(sessionId);
    const named = opened === undefined ? this.subagents.byId.get(sessionId) : toCaller(sessionId, opened);
    if (named === undefined || this.subagents.byId.size === 0 || named.calls?.find(toolCallId) !== undefined)
      return named;
    const { session, subagent } = named;
    if (session.calls?.find(toolCallId) === undefined) return this.subagents.caller(session, toolCallId) ?? named;
    // An agent may report calls of subagents as those of the session.
    const { root = sessionId } = this.subagents.byId.get(sessionId) ?? {};
    return { id: root, session, calls: session.calls, subagent };
  }

  /** One of our tools is called in a session that was neither opened nor announced. */
  unknownCaller(sessionId: unknown): void {
    const name = typeof sessionId === "string" ? quoted(sessionId, { longest: 80 }) : "without an id";
    const message = `The session ${name} calls tools of acp-skills, but was neither opened nor announced: no request of it is answered.`;
    this.#context.logOnce("warning", message);
  }

  /** The params of an editor's call of our tools: in a subagent, they are those of its session. */
  inSession(params: unknown): unknown {
    const id = isRecord(params) ? params["sessionId"] : undefined;
    const root = typeof id === "string" ? this.subagents.byId.get(id)?.root : undefined;
    return root === undefined || !isRecord(params) ? params : { ...params, sessionId: root };
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
    if (this.subagents.byId.size > 0) this.subagents.released(session);
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
    const label = this.#replays.end(id);
    if (label !== undefined) session.indexInHistory(label);
    session.service.begin(session.key, { sessionId: id, ...agreed, agentCommands: session.agentCommands });
    if (this.subagents.byId.has(id)) this.subagents.opened(id);
    if (before !== undefined) {
      this.subagents.moved(before, session);
      this.release(before);
    }
    this.#byId.set(id, session);
  }

  end(id: string): void {
    const session = this.#byId.get(id);
    if (session !== undefined) this.release(session);
    this.#byId.delete(id);
    this.#turns.delete(id);
    this.#replays.forget(id);
  }

  /** The agent sent `session/update`, possibly before its session is known. */
  agentUpdated(message: unknown, params: JsonRecord): Verdict | Promise<Verdict> {
    const { sessionId } = params;
    const update = recordAt(params, "update");
    if (typeof sessionId !== "string" || update === undefined) return untouched;
    const replayed = this.#replays.updated(sessionId, update);
    if (replayed !== undefined) return replayed;
    switch (update["sessionUpdate"]) {
      case sessionInfoUpdate:
        return toVerdict(this.titles.restoreAt(update, "title", ["params", "update"]));
      case subagentUpdate:
        this.subagents.updated(sessionId, update);
        return untouched;
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
    for (const sessions of [this.#byId, this.#loading, this.subagents.byId])
      for (const { calls } of sessions.values())
        if (calls !== undefined && calls.open.length > 0) ids = ids.length === 0 ? calls.open : [...ids, ...calls.open];
    if (ids.length !== this.#openCalls.length || ids.some((id, index) => id !== this.#openCalls[index]))
      this.#openCalls = ids;
    return this.#openCalls;
  }

  /** The editor knows of a call of one of our tools. */
  reportCall(
    { session, subagent }: Pick<CallingSession, "session" | "subagent">,
    { toolCallId, status }: JsonRecord,
    { tool, input }: OwnCall,
  ): void {
    // Of other calls, it matters only which subagent makes them.
    const isFollowed =
      servedTools.get(tool)?.executes === true || (this.subagents.byId.size > 0 && this.subagents.has(session));
    if (typeof toolCallId !== "string" || !isFollowed) return;
    const isOver = isFinal(status);
    session.service.callReported(session.key, { toolCallId, tool, input, isOver, subagent });
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

  /** The user cancelled a turn, or the work of a subagent: running calls of our tools end, whatever the agent does. */
  turnCancelled(params: JsonRecord): void {
    const caller = this.caller(params["sessionId"], undefined);
    if (caller === undefined) return;
    const { session, subagent } = caller;
    session.service.cancelTurn(session.key, subagent === undefined ? undefined : this.subagents.withBelow(subagent));
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
    this.subagents.clear();
  }

  #toolCalled(sessionId: string, update: JsonRecord): Verdict {
    const session = this.#byId.get(sessionId) ?? this.#loading.get(sessionId);
    const caller = session === undefined ? this.subagents.byId.get(sessionId) : toCaller(sessionId, session);
    if (caller === undefined) {
      const isOurs = ({ calls }: RelayedSession): boolean =>
        calls !== undefined && recogniseCall(update, calls.server, calls.facts) !== undefined;
      if (this.opened().some(isOurs)) this.unknownCaller(sessionId);
      return untouched;
    }
    const call = caller.calls?.record(update);
    if (call === undefined) return untouched;
    this.reportCall(caller, update, call);
    return toVerdict(describeToPerson(update, ["params", "update"], call));
  }

  #commandsListed(sessionId: string, commands: unknown, message: unknown): Verdict | Promise<Verdict> {
    if (!Array.isArray(commands) || this.subagents.byId.has(sessionId)) return untouched;
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
    const merged = await withinTime(wrapped, this.#context.settings.clock, mergeTimeoutMs);
    if (merged === undefined) service.listPassed(key);
    return merged?.amendments === undefined ? untouched : toVerdict(commandsAmendments(message, merged.amendments));
  }
}

function toCaller(id: string, session: RelayedSession): CallingSession {
  return { id, session, calls: session.calls, subagent: undefined };
}
