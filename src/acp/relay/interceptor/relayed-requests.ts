import { asText } from "../../../base/json/json-value.ts";
import { createDeferred } from "../../../base/promises.ts";
import type { OnceLog } from "../../../base/log.ts";
import type { Settings } from "../../../runtime/options.ts";
import * as methods from "../../../wire/methods.ts";
import { type Verdict, toVerdict, untouched } from "../../messages/amend.ts";
import { type JsonRecord, type MessageKind, isRecord, recordAt } from "../../messages/raw-message.ts";
import type { ServiceConnection } from "../../skill-service.ts";
import { type Negotiation, advertise, chooseForms, negotiate } from "../../negotiation.ts";
import type { RelayedSession } from "./relayed-session.ts";
import type { Agreed, Sessions } from "./sessions.ts";
import { servedTools } from "../../../wire/tools.ts";

interface RelayedRequestsOptions {
  readonly settings: Pick<Settings, "announce" | "version" | "log" | "tools">;
  readonly service: Pick<ServiceConnection, "prepare">;
  readonly sessions: Sessions;
  readonly logOnce: OnceLog["logOnce"];
  /** Called when the agent serves skills itself, so that acp-skills has nothing to do. */
  readonly alreadyServed: () => void;
}

type Pending =
  | { readonly kind: "initialize"; readonly params: JsonRecord }
  | RelayedSession
  | { readonly kind: "end"; readonly sessionId: string }
  | { readonly kind: "list" }
  | { readonly kind: "title" };

/** The maximum number of pending requests. If there are more, the oldest is dropped. */
const pendingLimit = 256;

/** The editor's requests whose responses are read: they begin the connection, open, list and end sessions, and set titles. */
export class RelayedRequests {
  readonly #options: RelayedRequestsOptions;
  /** The pending requests, oldest first. A string and a number are different ids. */
  readonly #pending: { readonly id: string | number; readonly request: Pending }[] = [];
  /** Resolves when `initialize` is answered, or will not be. */
  readonly #answered = createDeferred();
  #isInitializing = false;
  /** The result of `initialize`; undefined until it is answered. */
  agreed: Agreed | undefined;

  constructor(options: RelayedRequestsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Waits for the response to `initialize`, if the request was sent, and returns the result; undefined if there is none. */
  async negotiation(): Promise<Negotiation | undefined> {
    if (this.#isInitializing) await this.#answered.promise;
    return this.agreed?.negotiation;
  }

  /** Handles a request of the editor, of any method. */
  asked(id: string | number, method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const sessionId = asText(params["sessionId"]);
    switch (method) {
      case methods.initialize:
        this.#isInitializing = true;
        this.#add(id, { kind: "initialize", params });
        return untouched;
      case methods.sessionNew:
      case methods.sessionFork:
        return this.#sessionAsked(id, undefined, params);
      case methods.sessionLoad:
      case methods.sessionResume:
        return this.#sessionAsked(id, sessionId, params);
      case methods.sessionList:
        this.#add(id, { kind: "list" });
        return untouched;
      case methods.sessionSetTitle:
        this.#options.sessions.titles.setByUser(params["title"]);
        this.#add(id, { kind: "title" });
        return untouched;
      // An agent closes a session that it archives.
      case methods.sessionArchive:
      case methods.sessionClose:
      case methods.sessionDelete:
        if (sessionId !== undefined) this.#add(id, { kind: "end", sessionId });
        return untouched;
      default:
        return untouched;
    }
  }

  /** Handles a response of the agent. Undefined for the response to another request. */
  answered({ id, failed, result }: Extract<MessageKind, { kind: "response" }>, message: unknown): Verdict | undefined {
    // The oldest request with this id is meant: an editor may reuse an id.
    const index = this.#pending.findIndex((entry) => entry.id === id);
    const request = index === -1 ? undefined : this.#pending.splice(index, 1)[0]?.request;
    if (request === undefined) return undefined;
    if (!failed) return this.#process(request, message, result);
    this.#release(request);
    return untouched;
  }

  /** Called when the editor has left: nothing waits for the response to `initialize` any longer. */
  editorLeft(): void {
    this.#answered.resolve();
  }

  close(): void {
    this.#answered.resolve();
    for (const { request } of this.#pending.splice(0)) this.#release(request);
  }

  #add(id: string | number, request: Pending): void {
    this.#pending.push({ id, request });
    const oldest = this.#pending.length > pendingLimit ? this.#pending.shift() : undefined;
    if (oldest !== undefined) this.#release(oldest.request);
  }

  #sessionAsked(id: string | number, sessionId: string | undefined, params: JsonRecord): Verdict | Promise<Verdict> {
    const { sessions, settings } = this.#options;
    const session = sessions.open(params, sessionId);
    this.#add(id, session);
    return settings.tools === "none" ? untouched : session.equip(params).then(toVerdict);
  }

  #release(request: Pending): void {
    if (request.kind === "open") this.#options.sessions.release(request);
    if (request.kind === "initialize") this.#answered.resolve();
  }

  #process(request: Pending, message: unknown, result: unknown): Verdict {
    const { sessions, logOnce } = this.#options;
    switch (request.kind) {
      case "initialize":
        return this.#initialized(request.params, message, result);
      case "open": {
        const id = request.requestedId ?? asText(recordAt(message, "result")?.["sessionId"]);
        if (this.agreed === undefined)
          logOnce("warning", "A session was opened before initialize was answered; it has no skills.");
        if (id === undefined || this.agreed === undefined) this.#release(request);
        else sessions.begin(id, request, this.agreed, result);
        return untouched;
      }
      case "list":
        return toVerdict(sessions.titles.restoreList(result));
      case "title":
        sessions.titles.setByUser(recordAt({ result }, "result")?.["title"]);
        return untouched;
      case "end":
        sessions.end(request.sessionId);
        return untouched;
    }
  }

  #initialized(params: JsonRecord, message: unknown, result: unknown): Verdict {
    const { service, sessions, alreadyServed, logOnce } = this.#options;
    const { announce, version, log, tools } = this.#options.settings;
    const negotiation = negotiate(params, result);
    if (negotiation.alreadyServed) {
      log("info", "The agent already serves skills; acp-skills forwards all messages unchanged.");
      alreadyServed();
      return untouched;
    }
    for (const fault of negotiation.faults) logOnce("warning", fault);
    const forms = chooseForms(negotiation, announce);
    this.agreed = { negotiation, forms };
    const declared = isRecord(recordAt(params, "clientCapabilities")?.["subagents"]);
    sessions.subagents.areShown = tools !== "none" && (negotiation.protocol === 2 || declared);
    this.#answered.resolve();
    if (tools !== "none") service.prepare();
    const served = tools === "none" ? [] : [...servedTools.keys()];
    return toVerdict(advertise(message, negotiation, forms, { version, tools: served }));
  }
}
