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
import { type OwnCall, describeForUser, isFinal } from "../../messages/describe-call.ts";
import type { Forms, Negotiation } from "../../negotiation.ts";
import { recogniseCall } from "./recognise-call.ts";
import { type RelayContext, RelayedSession } from "./relayed-session.ts";
import { type CallOrigin, Subagents } from "./subagents.ts";
import { servedTools } from "../../../wire/tools.ts";

/** The result of the negotiation in `initialize`. */
export interface Agreed {
  readonly negotiation: Negotiation;
  readonly forms: Forms;
}

/** The maximum wait of an agent's command list for the commands of skills. After that it is forwarded, and sent again with them later. */
const mergeTimeoutMs = 100;
/** The maximum number of remembered sessions whose commands were listed before the response that opens them. */
const earlyLimit = 64;

/** The relay's record of the sessions of one connection. */
export class Sessions {
  readonly #context: RelayContext;
  readonly #byKey = new Map<SessionKey, RelayedSession>();
  /** The sessions that the editor has requested and that have not ended. */
  readonly byKey: ReadonlyMap<SessionKey, RelayedSession> = this.#byKey;
  /** The sessions that the agent has opened. */
  readonly #byId = new Map<string, RelayedSession>();
  /** The sessions that are being loaded: their history arrives before the response that opens them. */
  readonly #loading = new Map<string, RelayedSession>();
  /** The request that began each session's latest turn. */
  readonly #turns = new Map<string, string | number>();
  /** The command lists that arrived before the response that opens their session. */
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

  /** Finds the opened session that a message names. */
  find({ sessionId }: JsonRecord): RelayedSession | undefined {
    return typeof sessionId === "string" ? this.#byId.get(sessionId) : undefined;
  }

  /** Finds the caller of a call: the named session, or the one that knows the call if the agent names another session for a subagent. */
  caller(sessionId: unknown, toolCallId: unknown): CallOrigin | undefined {
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

  /** Warns that a tool of acp-skills is called in a session that was neither opened nor announced. */
  unknownCaller(sessionId: unknown): void {
    const name = typeof sessionId === "string" ? quoted(sessionId, { maxLength: 80 }) : "without an id";
    const message = `The session ${name} calls tools of acp-skills, but was neither opened nor announced: no request of it is answered.`;
    this.#context.logOnce("warning", message);
  }

  /** Returns the params of an editor's call of a tool, with the id of the editor's session instead of a subagent's. */
  inSession(params: unknown): unknown {
    const id = isRecord(params) ? params["sessionId"] : undefined;
    const root = typeof id === "string" ? this.subagents.byId.get(id)?.root : undefined;
    return root === undefined || !isRecord(params) ? params : { ...params, sessionId: root };
  }

  /** All sessions that the agent has opened, the latest first. */
  opened(): readonly RelayedSession[] {
    return [...this.#byId.values()].reverse();
  }

  /** Called when the editor requests a session; `id` is undefined for a new session. */
  open(params: JsonRecord, id: string | undefined): RelayedSession {
    const session = new RelayedSession(++this.#lastKey, id, params, this.#context);
    this.#byKey.set(session.key, session);
    if (id !== undefined) this.#loading.set(id, session);
    return session;
  }

  /** Releases a session, which ended or was not opened. */
  release(session: RelayedSession): void {
    for (const [id, loaded] of this.#loading) if (loaded === session) this.#loading.delete(id);
    this.#byKey.delete(session.key);
    if (this.subagents.byId.size > 0) this.subagents.released(session);
    session.release();
  }

  /** Called when the agent has opened a session. Replaces a session with the same id. */
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

  /** Handles a `session/update` of the agent, possibly before its session is known. */
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

  /** The ids of the calls of acp-skills' tools that have not ended. The same array is returned until the ids change. */
  get openCalls(): readonly string[] {
    // The ids are read for each block of lines, so nothing but the empty array is allocated while no call is open.
    let ids: readonly string[] = [];
    for (const sessions of [this.#byId, this.#loading, this.subagents.byId])
      for (const { calls } of sessions.values())
        if (calls !== undefined && calls.open.length > 0) ids = ids.length === 0 ? calls.open : [...ids, ...calls.open];
    if (ids.length !== this.#openCalls.length || ids.some((id, index) => id !== this.#openCalls[index]))
      this.#openCalls = ids;
    return this.#openCalls;
  }

  /** Reports to the service that the editor knows a call of a tool of acp-skills. */
  reportCall(
    { session, subagent }: Pick<CallOrigin, "session" | "subagent">,
    { toolCallId, status }: JsonRecord,
    { tool, input }: OwnCall,
  ): void {
    // Calls that do not execute are followed only to learn which subagent makes them.
    const isFollowed =
      servedTools.get(tool)?.executes === true || (this.subagents.byId.size > 0 && this.subagents.has(session));
    if (typeof toolCallId !== "string" || !isFollowed) return;
    const isOver = isFinal(status);
    session.service.callReported(session.key, { toolCallId, tool, input, isOver, subagent });
  }

  /** Called when the editor sends a message that names a session. */
  editorNamed(session: RelayedSession, isPrompt: boolean): void {
    if (session.isKnown && (session.isPrompted || !isPrompt)) return;
    session.isKnown = true;
    session.isPrompted ||= isPrompt;
    session.service.named(session.key, isPrompt);
  }

  /** Called when a request begins a turn. */
  turnBegan(params: JsonRecord, request: string | number): void {
    const session = this.find(params);
    if (session === undefined) return;
    this.#turns.set(String(params["sessionId"]), request);
    session.service.turnBegan(session.key);
  }

  /** Called when the user cancels a turn or a subagent. Running calls of acp-skills' tools end, even if the agent goes on. */
  turnCancelled(params: JsonRecord): void {
    const caller = this.caller(params["sessionId"], undefined);
    if (caller === undefined) return;
    const { session, subagent } = caller;
    session.service.cancelTurn(session.key, subagent === undefined ? undefined : this.subagents.withBelow(subagent));
  }

  /** Called when the user cancels a call. A call of a tool of acp-skills ends, even if the agent goes on. */
  callCancelled(params: JsonRecord): void {
    const { toolCallId } = params;
    const session = this.find(params);
    if (typeof toolCallId !== "string" || session?.calls?.find(toolCallId) === undefined) return;
    session.service.cancelToolCall(session.key, toolCallId);
  }

  /** Called when the user cancels a request, which may have begun a turn. */
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
    return toVerdict(describeForUser(update, ["params", "update"], call));
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

function toCaller(id: string, session: RelayedSession): CallOrigin {
  return { id, session, calls: session.calls, subagent: undefined };
}
