import { timeWaited } from "../../base/clock.ts";
import { createOnceLog } from "../../base/log.ts";
import type { Settings } from "../../runtime/options.ts";
import * as methods from "../../wire/methods.ts";
import { type Notification, encodeMessage } from "../emission.ts";
import { OwnRequests } from "./interceptor/own-requests.ts";
import { notForwarded, reportFault, toVerdict, untouched, type Verdict } from "../messages/amend.ts";
import { agentInterest, callInterest, editorInterest, type Interest } from "./interest.ts";
import { isExactId, isRecord, type JsonRecord, type MessageKind, readMessage } from "../messages/raw-message.ts";
import { amendPrompt } from "./interceptor/amend-prompt.ts";
import type { ServiceConnection, SkillService } from "../skill-service.ts";
import { RelayedRequests } from "./interceptor/relayed-requests.ts";
import { EditorRequests } from "./interceptor/requests.ts";
import { Sessions } from "./interceptor/sessions.ts";
import { handlePermissionRequest, type PermissionGranted } from "./interceptor/permissions.ts";

export interface InterceptorOptions {
  readonly service: SkillService;
  readonly settings: Pick<
    Settings,
    "announce" | "version" | "log" | "clock" | "tools" | "instructModel" | "answerPermissions"
  >;
  /** Sends a line to the editor, after the lines forwarded before. `written` is called when the line was written, or never will be. */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** The total time, in milliseconds, for which this thread has waited for the rest of lines that the editor had begun. */
  readonly waitedInLines?: () => number;
  /** Sends a response to the agent. */
  readonly reply: (message: PermissionGranted) => void;
}

/**
 * Decides, in order, about every message between an editor and its agent; it knows neither bytes nor streams. The service reads skills and
 * runs tools, on another thread. A message waits only for an answer that it needs, with a time limit. An internal error never stops a
 * message.
 */
export class Interceptor {
  readonly #options: InterceptorOptions;
  readonly #servesTools: boolean;
  readonly #once;
  readonly #service: ServiceConnection;
  readonly #requests: EditorRequests;
  readonly #ownRequests: OwnRequests;
  readonly #sessions: Sessions;
  readonly #relayed: RelayedRequests;
  #isOpen = true;
  /** The texts of messages that may concern acp-skills, by the side that sends the messages. */
  readonly interests: { editor: Interest; agent: Interest } = { editor: "everything", agent: "everything" };
  /** The interest in the agent's messages while calls of acp-skills' tools are open. */
  #withCalls: { readonly usual: Interest; readonly openCalls: readonly string[]; readonly texts: Interest } | undefined;

  constructor(options: InterceptorOptions) {
    const { service, settings, send } = options;
    const { log } = settings;
    this.#options = options;
    this.#servesTools = settings.tools !== "none";
    this.#once = createOnceLog(log);
    this.#requests = new EditorRequests((line) => send(line, () => undefined));
    this.#ownRequests = new OwnRequests({
      send: (line, written) => {
        // The interests are updated before sending: the response may arrive at once.
        this.#updateInterests();
        if (this.#isOpen) send(line, written);
      },
      shown: (id) => this.#service.questionShown(id),
      replied: (id, reply, elapsedMs) => this.#service.editorReplied(id, reply, elapsedMs),
      time: () => timeWaited(settings.clock) - (options.waitedInLines?.() ?? 0),
    });
    this.#service = service.connect({
      send: (line, written) => {
        if (this.#isOpen) send(line, this.#requests.sent(written));
        else written();
      },
      request: (id, line) => this.#ownRequests.request(id, line),
      withdraw: (id) => this.#ownRequests.withdraw(id),
      answered: (id) => {
        this.#requests.answered(id);
        this.#updateInterests();
      },
      ended: () => {
        this.#requests.serviceEnded();
        this.#ownRequests.withdrawAll();
        this.#updateInterests();
      },
      index: (key, index) => this.#sessions.byKey.get(key)?.setIndex(index),
      blob: (key, id, facts) => this.#sessions.byKey.get(key)?.calls?.learnBlob(id, facts),
      log,
    });
    this.#sessions = new Sessions({
      service: this.#service,
      settings,
      negotiation: () => this.#relayed.negotiation(),
      notify: this.#notify,
      logOnce: this.#once.logOnce,
    });
    this.#relayed = new RelayedRequests({
      service: this.#service,
      settings,
      sessions: this.#sessions,
      logOnce: this.#once.logOnce,
      alreadyServed: () => this.close(),
    });
  }

  /** Decides about a message of the editor. Returns a promise only if the service is asked; the editor's next messages must then wait. */
  fromEditor(message: unknown): Verdict | Promise<Verdict> {
    return this.#guard(() => {
      if (this.#ownRequests.take(message)) return notForwarded;
      const read = readMessage(message);
      if (read.kind !== "request" && read.kind !== "notification") return untouched;
      const { method, params } = read;
      if (this.#servesTools && method.startsWith(methods.toolMethodPrefix)) return this.#toolCalled(read, message);
      const session = this.#sessions.find(params);
      if (session !== undefined) this.#sessions.editorNamed(session, method === methods.sessionPrompt);
      return read.kind === "request"
        ? this.#editorAsked(read.id, method, params)
        : this.#editorNotified(method, params);
    });
  }

  fromAgent(message: unknown): Verdict | Promise<Verdict> {
    return this.#guard(() => {
      const read = readMessage(message);
      switch (read.kind) {
        case "notification":
          return read.method === methods.sessionUpdate ? this.#sessions.agentUpdated(message, read.params) : untouched;
        case "request":
          return read.method === methods.requestPermission ? this.#permissionAsked(read.id, read.params) : untouched;
        case "response":
          // An id of a call that only acp-skills answers: the agent never received the editor's request.
          return this.#relayed.answered(read, message) ?? (this.#requests.has(read.id) ? notForwarded : untouched);
        case "other":
          return untouched;
      }
    });
  }

  #updateInterests(): void {
    const { agreed } = this.#relayed;
    this.interests.editor = this.interests.agent = this.#isOpen ? "everything" : [];
    if (!this.#isOpen || agreed === undefined) return;
    const servesTools = this.#servesTools;
    this.interests.editor = editorInterest({ servesTools, hasRequested: !this.#ownRequests.isEmpty });
    const awaits = !this.#relayed.isEmpty || !this.#requests.isEmpty;
    const usual = agentInterest({
      servesTools,
      awaits,
      streamsInput: agreed.negotiation.facts.streamsInput,
      hasSubagents: this.#sessions.subagents.areShown,
    });
    // The message that ends a call may name it only by its id.
    const { openCalls } = this.#sessions;
    if (openCalls.length === 0 || usual === "everything") this.interests.agent = usual;
    else {
      if (this.#withCalls?.usual !== usual || this.#withCalls.openCalls !== openCalls)
        this.#withCalls = { usual, openCalls, texts: [...usual, ...callInterest(openCalls)] };
      this.interests.agent = this.#withCalls.texts;
    }
  }

  /** Called when the editor has left: nothing waits for the response to `initialize`, or for answers, any longer. */
  editorLeft(): void {
    this.#relayed.editorLeft();
    this.#ownRequests.editorLeft();
    this.#requests.editorLeft();
  }

  /** Releases every session; nothing is sent afterwards. */
  close(): void {
    this.#isOpen = false;
    this.#requests.editorLeft();
    this.#relayed.close();
    this.#sessions.close();
    this.#updateInterests();
    void this.#service.close();
  }

  #guard(handle: () => Verdict | Promise<Verdict>): Verdict | Promise<Verdict> {
    if (!this.#isOpen) return untouched;
    const failed = (error: unknown): Verdict => {
      reportFault(this.#once, error);
      return untouched;
    };
    try {
      const verdict = handle();
      return verdict instanceof Promise ? verdict.catch(failed).finally(() => this.#updateInterests()) : verdict;
    } catch (error) {
      return failed(error);
    } finally {
      this.#updateInterests();
    }
  }

  /** Sends a notification to the editor, after the message that is being processed. */
  readonly #notify = (message: Notification): void =>
    queueMicrotask(() => {
      if (this.#isOpen) this.#options.send(encodeMessage(message), () => undefined);
    });

  #editorAsked(id: string | number, method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    switch (method) {
      case methods.sessionPrompt:
        this.#sessions.turnBegan(params, id);
        return this.#userSaid(id, method, params);
      case methods.sessionSteering:
        return this.#userSaid(id, method, params);
      case methods.toolCallCancel:
        this.#sessions.callCancelled(params);
        return untouched;
      default:
        return this.#relayed.asked(id, method, params);
    }
  }

  #editorNotified(method: string, params: JsonRecord): Verdict {
    if (method === methods.sessionCancel) this.#sessions.turnCancelled(params);
    if (method !== methods.cancelRequest) return untouched;
    const { requestId } = params;
    if (this.#requests.has(requestId)) {
      this.#service.cancelCall(requestId);
      return notForwarded;
    }
    this.#sessions.requestCancelled(requestId);
    return untouched;
  }

  #toolCalled(call: Extract<MessageKind, { readonly method: string }>, message: unknown): Verdict | Promise<Verdict> {
    if (call.kind === "notification") return notForwarded;
    // The agent will refuse the call, with the exact id that the editor waits for.
    const { id, method } = call;
    if (!isExactId(id)) return untouched;
    const start = (): Verdict => {
      if (!this.#isOpen) return untouched;
      const params = isRecord(message) ? this.#sessions.inSession(message["params"]) : undefined;
      this.#requests.call(this.#service, id, method, params);
      return notForwarded;
    };
    return this.#requests.room()?.then(start) ?? start();
  }

  #userSaid(id: string | number, method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const session = this.#sessions.find(params);
    const { agreed } = this.#relayed;
    if (session === undefined || agreed === undefined) return untouched;
    const amended = amendPrompt(session, method, params, agreed.negotiation, this.#options.settings);
    if (!(amended instanceof Promise)) return toVerdict(amended);
    return amended.then((result) => {
      if (!("code" in result)) return toVerdict(result);
      // An inexact id is left to the agent, which will refuse the prompt with the exact id.
      if (!isExactId(id)) return untouched;
      this.#options.settings.log("warning", `A prompt was refused. ${result.message}`);
      if (this.#isOpen) this.#options.send(encodeMessage({ jsonrpc: "2.0", id, error: result }), () => undefined);
      return notForwarded;
    });
  }

  #permissionAsked(id: string | number, params: JsonRecord): Verdict | Promise<Verdict> {
    if (this.#relayed.agreed === undefined) return untouched;
    const { reply, settings } = this.#options;
    const [sessions, notify] = [this.#sessions, this.#notify];
    return handlePermissionRequest(id, params, { sessions, settings, reply, notify }) ?? untouched;
  }
}
