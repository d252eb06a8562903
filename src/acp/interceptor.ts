import { createDeferred } from "../base/deferred.ts";
import { openToldOnce } from "../base/log.ts";
import { hasNothingToDo, type Settings } from "../options.ts";
import * as methods from "../wire/methods.ts";
import type { Notification } from "./announce/emission.ts";
import { agentInterest, editorInterest, type Interest } from "./bytes/interest.ts";
import { encodeMessage } from "./bytes/encode-message.ts";
import { isExactId, isRecord, type JsonRecord, readMessage, recordAt } from "./bytes/raw-message.ts";
import { reportFault } from "./fault.ts";
import { openPrompts } from "./prompt/invocation.ts";
import { restoreSessionTitles } from "./prompt/told-again.ts";
import type { ServiceConnection, SkillService } from "./service/skill-service.ts";
import { advertise, chooseForms, negotiate, type Negotiation } from "./session/negotiation.ts";
import { type Opening, Openings } from "./session/openings.ts";
import { EditorRequests, openPendingRequests } from "./session/requests.ts";
import { type Agreed, Sessions } from "./session/sessions.ts";
import { lookAtPermission, type PermissionGranted } from "./tools/permissions.ts";
import { servedTools } from "../tools/tool.ts";
import { kept, toVerdict, untouched, type Verdict } from "./bytes/amend.ts";

/**
 * Decides about every message between an editor and its agent, in order; it knows neither bytes nor streams. Reading
 * skills and running tools is the service's work, on another thread: a message waits only for an answer that it needs, with a time
 * limit. An internal error never stops a message.
 */
export interface Interceptor {
  /** A promise only if the service is asked; the messages behind it must wait. */
  fromEditor(message: unknown): Verdict | Promise<Verdict>;
  fromAgent(message: unknown): Verdict | Promise<Verdict>;
  editorInterest(): Interest;
  agentInterest(): Interest;
  /** The editor has left: nothing waits for the agent's response to `initialize` any longer. */
  editorLeft(): void;
  /** Releases every session; nothing is sent afterwards. */
  close(): void;
}

export interface InterceptorOptions {
  readonly service: SkillService;
  readonly settings: Pick<Settings, "emit" | "version" | "log" | "clock" | "tools" | "teach" | "approveReadOnly">;
  /** Sends a line to the editor, after what was forwarded before. `written` is called when it was written, or never will be. */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** Sends a response to the agent. */
  readonly reply: (message: PermissionGranted) => void;
}

/** Opens an interceptor for one connection. */
export function openInterceptor(options: InterceptorOptions): Interceptor {
  return hasNothingToDo(options.settings) ? transparent : new ServingInterceptor(options);
}

const transparent: Interceptor = {
  fromEditor: () => untouched,
  fromAgent: () => untouched,
  editorInterest: () => [],
  agentInterest: () => [],
  editorLeft: () => undefined,
  close: () => undefined,
};

/** A request of the editor whose response is processed. */
type Pending =
  | { readonly kind: "initialize"; readonly params: JsonRecord }
  | Opening
  | { readonly kind: "end"; readonly sessionId: string }
  | { readonly kind: "list" };

const pendingLimit = 256;

class ServingInterceptor implements Interceptor {
  readonly #options: InterceptorOptions;
  readonly #servesTools: boolean;
  readonly #once;
  readonly #service: ServiceConnection;
  readonly #requests: EditorRequests;
  readonly #openings: Openings;
  readonly #sessions: Sessions;
  readonly #lookAtPrompt;
  readonly #pending = openPendingRequests<Pending>(pendingLimit, (request) => {
    this.#release(request);
  });
  /** Resolves when `initialize` was answered, or will not be. */
  readonly #answered = createDeferred();
  #isInitializing = false;
  #agreed: Agreed | undefined;
  #isOpen = true;

  constructor(options: InterceptorOptions) {
    const { service, settings, send } = options;
    const { log, clock, teach, emit } = settings;
    this.#options = options;
    this.#servesTools = settings.tools !== "none";
    this.#once = openToldOnce(log);
    this.#requests = new EditorRequests((line) => {
      send(line, () => undefined);
    });
    this.#service = service.connect({
      send: (line, written) => {
        if (this.#isOpen) send(line, written);
        else written();
      },
      answered: (id) => {
        this.#requests.answered(id);
      },
      ended: () => {
        this.#requests.serviceEnded();
      },
      lesson: (key, lesson) => {
        this.#openings.prepared(key, lesson);
      },
      log,
    });
    const { tellOnce } = this.#once;
    const negotiation = (): Promise<Negotiation | undefined> => this.#negotiation();
    this.#openings = new Openings({ service: this.#service, settings, negotiation, tellOnce });
    this.#sessions = new Sessions({
      service: this.#service,
      clock,
      release: (opening) => {
        this.#openings.release(opening);
      },
      tell: this.#tell,
    });
    this.#lookAtPrompt = openPrompts({ service: this.#service, clock, teach, invokes: emit !== "none" });
  }

  fromEditor(message: unknown): Verdict | Promise<Verdict> {
    return this.#guard(() => {
      const read = readMessage(message);
      if (read.kind !== "request" && read.kind !== "notification") return untouched;
      const { method, params } = read;
      if (this.#servesTools && method.startsWith(methods.toolMethodPrefix)) {
        if (read.kind === "notification") return kept;
        // The agent refuses it, with the exact id that the editor waits for.
        if (!isExactId(read.id)) return untouched;
        this.#requests.ask(this.#service, read.id, method, isRecord(message) ? message["params"] : undefined);
        return kept;
      }
      const session = this.#sessions.find(params);
      if (session !== undefined) this.#sessions.editorNamed(session, method === methods.sessionPrompt);
      return read.kind === "request" ? this.#editorAsked(read.id, method, params) : this.#editorTold(method, params);
    });
  }

  fromAgent(message: unknown): Verdict | Promise<Verdict> {
    return this.#guard(() => {
      const read = readMessage(message);
      switch (read.kind) {
        case "notification":
          return read.method === methods.sessionUpdate ? this.#sessions.agentTold(message, read.params) : untouched;
        case "request":
          return read.method === methods.requestPermission ? this.#permissionAsked(read.id, read.params) : untouched;
        case "response": {
          const request = this.#pending.take(read.id);
          // The agent was never asked: only we answer this request.
          if (request === undefined) return this.#requests.has(read.id) ? kept : untouched;
          if (!read.failed) return this.#agentAnswered(request, message, read.result);
          this.#release(request);
          return untouched;
        }
        case "other":
          return untouched;
      }
    });
  }

  editorInterest(): Interest {
    if (!this.#isOpen) return [];
    return this.#agreed === undefined ? "everything" : editorInterest({ servesTools: this.#servesTools });
  }

  agentInterest(): Interest {
    if (!this.#isOpen) return [];
    if (this.#agreed === undefined) return "everything";
    const awaits = !this.#pending.isEmpty || !this.#requests.isEmpty;
    return agentInterest({ servesTools: this.#servesTools, awaits });
  }

  editorLeft(): void {
    this.#answered.resolve();
  }

  close(): void {
    this.#isOpen = false;
    this.#answered.resolve();
    for (const request of this.#pending.takeAll()) this.#release(request);
    this.#sessions.close();
    void this.#service.close();
  }

  #guard(look: () => Verdict | Promise<Verdict>): Verdict | Promise<Verdict> {
    if (!this.#isOpen) return untouched;
    const failed = (error: unknown): Verdict => {
      reportFault(this.#once, error);
      return untouched;
    };
    try {
      const verdict = look();
      return verdict instanceof Promise ? verdict.catch(failed) : verdict;
    } catch (error) {
      return failed(error);
    }
  }

  /** Sends a notification to the editor, after the message that is being processed. */
  readonly #tell = (message: Notification): void => {
    queueMicrotask(() => {
      if (this.#isOpen) this.#options.send(encodeMessage(message), () => undefined);
    });
  };

  async #negotiation(): Promise<Negotiation | undefined> {
    if (this.#isInitializing) await this.#answered.promise;
    return this.#agreed?.negotiation;
  }

  #release(request: Pending): void {
    if (request.kind === "open") {
      this.#sessions.forget(request);
      this.#openings.release(request);
    }
    if (request.kind === "initialize") this.#answered.resolve();
  }

  #editorAsked(id: string | number, method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const sessionId = textOf(params["sessionId"]);
    switch (method) {
      case methods.initialize:
        this.#isInitializing = true;
        this.#pending.add(id, { kind: "initialize", params });
        return untouched;
      case methods.sessionNew:
      case methods.sessionFork:
        return this.#openingAsked(id, undefined, params);
      case methods.sessionLoad:
      case methods.sessionResume:
        return this.#openingAsked(id, sessionId, params);
      case methods.sessionList:
        this.#pending.add(id, { kind: "list" });
        return untouched;
      case methods.sessionClose:
      case methods.sessionDelete:
        if (sessionId !== undefined) this.#pending.add(id, { kind: "end", sessionId });
        return untouched;
      case methods.sessionPrompt:
        this.#sessions.turnBegan(params, id);
        return this.#userSaid(method, params);
      case methods.sessionSteering:
        return this.#userSaid(method, params);
      default:
        return untouched;
    }
  }

  #editorTold(method: string, params: JsonRecord): Verdict {
    if (method === methods.sessionCancel) this.#sessions.turnCancelled(params);
    if (method !== methods.cancelRequest) return untouched;
    const { requestId } = params;
    if ((typeof requestId === "string" || typeof requestId === "number") && this.#requests.has(requestId)) {
      this.#service.giveUp(requestId);
      return kept;
    }
    this.#sessions.requestCancelled(requestId);
    return untouched;
  }

  #openingAsked(id: string | number, sessionId: string | undefined, params: JsonRecord): Verdict | Promise<Verdict> {
    const opening = this.#openings.open(params, sessionId);
    this.#pending.add(id, opening);
    if (sessionId !== undefined) this.#sessions.loads(sessionId, opening);
    return this.#servesTools ? this.#openings.equip(opening, params).then(toVerdict) : untouched;
  }

  #userSaid(method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const session = this.#sessions.find(params);
    if (session === undefined || this.#agreed === undefined) return untouched;
    const amendments = this.#lookAtPrompt(session, method, params, this.#agreed.negotiation);
    return amendments instanceof Promise ? amendments.then(toVerdict) : toVerdict(amendments);
  }

  #permissionAsked(id: string | number, params: JsonRecord): Verdict {
    if (this.#agreed === undefined) return untouched;
    const { reply, settings } = this.#options;
    const { facts } = this.#agreed.negotiation;
    const { approveReadOnly, log } = settings;
    const context = { sessions: this.#sessions, facts, approveReadOnly, log, reply, tell: this.#tell };
    return lookAtPermission(id, params, context);
  }

  #agentAnswered(request: Pending, message: unknown, result: unknown): Verdict {
    switch (request.kind) {
      case "initialize":
        return this.#initialized(request.params, message, result);
      case "open": {
        const id = request.sessionId ?? textOf(recordAt(message, "result")?.["sessionId"]);
        if (this.#agreed === undefined)
          this.#once.tellOnce("warning", "A session was opened before initialize was answered; it has no skills.");
        if (id === undefined || this.#agreed === undefined) this.#release(request);
        else this.#sessions.begin(id, request, this.#agreed, result);
        return untouched;
      }
      case "list":
        return toVerdict(restoreSessionTitles(result));
      case "end":
        this.#sessions.end(request.sessionId);
        return untouched;
    }
  }

  #initialized(params: JsonRecord, message: unknown, result: unknown): Verdict {
    const { emit, version, log } = this.#options.settings;
    const negotiation = negotiate(params, result);
    if (negotiation.alreadyServed) {
      log("info", "The agent already serves skills; acp-skills forwards all messages unchanged.");
      this.close();
      return untouched;
    }
    const forms = chooseForms(negotiation, emit);
    this.#agreed = { negotiation, forms };
    this.#answered.resolve();
    if (this.#servesTools) this.#service.prepare();
    const tools = this.#servesTools ? [...servedTools.keys()] : [];
    return toVerdict(advertise(message, negotiation, forms, { version, tools }));
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
