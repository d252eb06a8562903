import { hasNothingToDo, type Settings } from "../options.ts";
import { createDeferred } from "../base/deferred.ts";
import { openToldOnce } from "../base/told-once.ts";
import * as methods from "../wire/methods.ts";
import { approve, toolCallIn } from "./tools/approval.ts";
import { callAsked, describeToPerson, withoutAlways } from "./tools/call-cards.ts";
import type { Notification } from "./announce/emission.ts";
import { encodeMessage } from "./bytes/encode-message.ts";
import { agentInterest, editorInterest, type Interest } from "./announce/interests.ts";
import { advertise, chooseForms, negotiate, type Negotiation } from "./session/negotiation.ts";
import { openOpenings, type Opening } from "./session/openings.ts";
import { openPendingRequests } from "./session/pending-requests.ts";
import { openPrompts } from "./prompt/prompts.ts";
import { isExactId, isRecord, type JsonRecord, readMessage, recordAt } from "./bytes/raw-message.ts";
import { servedTools } from "./tools/served-tools.ts";
import type { SkillService } from "./service/skill-service.ts";
import { type Agreed, openSessions } from "./session/sessions.ts";
import { restoreSessionTitles } from "./prompt/told-again.ts";
import { kept, toVerdict, untouched, type Verdict } from "./verdict.ts";

/**
 * Stands between an editor and its agent and looks at raw messages. It knows neither bytes nor streams: a mount shows it
 * each message in order, does what the verdict says, and keeps the order. What has to be read or run is the service's, on another
 * thread; a message waits for it only where it needs its answer, and never for long. A fault of ours never stops a message.
 */
export interface Interceptor {
  /** A promise only where the service is asked; the mount holds the messages that follow until then. */
  readonly fromEditor: (message: unknown) => Verdict | Promise<Verdict>;
  readonly fromAgent: (message: unknown) => Verdict | Promise<Verdict>;
  readonly editorInterest: () => Interest;
  readonly agentInterest: () => Interest;
  /** The editor has left: nothing waits for the agent's answer to `initialize` any more. */
  readonly editorLeft: () => void;
  /** Releases every session; nothing is sent after it. */
  readonly close: () => void;
}

/** Our answer to a request of the agent's, under its id. */
interface Answer {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result: unknown;
}

export interface InterceptorOptions {
  readonly service: SkillService;
  readonly settings: Pick<Settings, "emit" | "version" | "log" | "clock" | "tools" | "teach" | "approveReadOnly">;
  /**
   * Puts a line of ours on its way to the editor, behind what was forwarded before; `written` is to be called once it has left this
   * process, or never will.
   */
  readonly send: (line: Uint8Array, written: () => void) => void;
  /** Puts an answer of ours on its way to the agent. */
  readonly reply: (message: Answer) => void;
}

type Pending =
  | { readonly kind: "initialize"; readonly params: JsonRecord }
  | Opening
  | { readonly kind: "end"; readonly sessionId: string }
  | { readonly kind: "list" };

const pendingLimit = 256;

/** The answer to calls of ours that ended with the thread that ran them; what happened is on the log (CONTRACT C-2.3). */
const serviceEnded = {
  code: -32000,
  message: "Skills and tools have ended for a fault, which is on the log of acp-skills. A new session gets them again.",
  data: { code: "RUNTIME_BUSY", retryable: true },
} as const;

/** Opens an interceptor for one connection. */
export function openInterceptor({ service: skills, settings, send, reply }: InterceptorOptions): Interceptor {
  const { emit, version, log, clock, approveReadOnly, teach } = settings;
  if (hasNothingToDo(settings)) return transparent;
  const servesTools = settings.tools !== "none";
  const { tellOnce } = openToldOnce(log);
  /** The editor's own calls that have no answer yet. */
  const calls = new Set<string | number>();
  const service = skills.connect({
    send(line, written) {
      if (isOpen) send(line, written);
      else written();
    },
    answered: (id) => calls.delete(id),
    ended() {
      for (const id of calls) send(encodeMessage({ jsonrpc: "2.0", id, error: serviceEnded }), () => undefined);
      calls.clear();
    },
    lesson(key, lesson) {
      openings.prepared(key, lesson);
    },
    log,
  });
  const openings = openOpenings({ service, settings, negotiation: awaitNegotiation, tellOnce });
  const sessions = openSessions({
    service,
    clock,
    release: (opening) => {
      openings.release(opening);
    },
    tell,
  });
  const pending = openPendingRequests<Pending>(pendingLimit, release);
  const lookAtPrompt = openPrompts({ service, clock, teach });
  let negotiated: Agreed | undefined;
  /** The editor has asked the agent what it can. */
  let isAsked = false;
  let isOpen = true;
  const { promise: answered, resolve: whenNegotiated } = createDeferred();

  /** Behind the message that is looked at. */
  function tell(message: Notification): void {
    queueMicrotask(() => {
      if (isOpen) send(encodeMessage(message), () => undefined);
    });
  }

  async function awaitNegotiation(): Promise<Negotiation | undefined> {
    if (isAsked) await answered;
    return negotiated?.negotiation;
  }

  function release(request: Pending): void {
    if (request.kind === "open") {
      sessions.forget(request);
      openings.release(request);
    }
    if (request.kind === "initialize") whenNegotiated();
  }

  function editorAsked(id: string | number, method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const sessionId = textOf(params["sessionId"]);
    switch (method) {
      case methods.initialize:
        isAsked = true;
        pending.add(id, { kind: "initialize", params });
        return untouched;
      case methods.sessionNew:
      case methods.sessionFork:
        return openingAsked(id, undefined, params);
      case methods.sessionLoad:
      case methods.sessionResume:
        return openingAsked(id, sessionId, params);
      case methods.sessionList:
        pending.add(id, { kind: "list" });
        return untouched;
      case methods.sessionClose:
      case methods.sessionDelete:
        if (sessionId !== undefined) pending.add(id, { kind: "end", sessionId });
        return untouched;
      case methods.sessionPrompt:
        sessions.turnBegan(params, id);
        return userSaid(method, params);
      case methods.sessionSteering:
        return userSaid(method, params);
      default:
        return untouched;
    }
  }

  function editorTold(method: string, params: JsonRecord): Verdict {
    if (method === methods.sessionCancel) sessions.turnCancelled(params);
    if (method !== methods.cancelRequest) return untouched;
    const { requestId } = params;
    if ((typeof requestId === "string" || typeof requestId === "number") && calls.has(requestId)) {
      service.giveUp(requestId);
      return kept;
    }
    sessions.requestCancelled(requestId);
    return untouched;
  }

  function openingAsked(
    id: string | number,
    sessionId: string | undefined,
    params: JsonRecord,
  ): Verdict | Promise<Verdict> {
    const opening = openings.open(params, sessionId);
    pending.add(id, opening);
    if (sessionId !== undefined) sessions.loads(sessionId, opening);
    const equipped = openings.equip(opening, params);
    return equipped === undefined ? untouched : equipped.then(toVerdict);
  }

  function userSaid(method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const session = sessions.find(params);
    if (session === undefined || negotiated === undefined) return untouched;
    const amendments = lookAtPrompt(session, method, params, negotiated.negotiation);
    return amendments instanceof Promise ? amendments.then(toVerdict) : toVerdict(amendments);
  }

  /** Answers in the editor's place where we may; else says to the person what is asked. */
  function permissionAsked(id: string | number, params: JsonRecord): Verdict {
    const opening = sessions.find(params)?.opening;
    const toolCall = toolCallIn(params);
    const facts = negotiated?.negotiation.facts;
    if (!opening?.server || !opening.calls || !facts || !toolCall) return untouched;
    const { server, calls } = opening;
    const known = calls.find(toolCall["toolCallId"]);
    const approval = approveReadOnly && isExactId(id) ? approve(params, { server, facts, known }) : undefined;
    const call = calls.learn(toolCall);
    if (call === undefined) return untouched;
    sessions.noteCall(opening, toolCall, call);
    if (approval === undefined) {
      const path = ["params", ...(recordAt(params, "subject") === undefined ? [] : ["subject"]), "toolCall"];
      return toVerdict([...describeToPerson(toolCall, path, call), ...withoutAlways(params, call)]);
    }
    const { tool, optionId } = approval;
    log("info", `Allowed the agent to call ${tool} once: it changes nothing in the project.`);
    reply({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
    // Of some calls the request is the first that the editor would have heard.
    if (known === undefined && facts.asksFirst) tell(callAsked(params["sessionId"], toolCall, call));
    return kept;
  }

  function agentAnswered(request: Pending, message: unknown, result: unknown): Verdict {
    switch (request.kind) {
      case "initialize": {
        const negotiation = negotiate(request.params, result);
        if (negotiation.alreadyServed) {
          log("info", "The agent serves skills itself; acp-skills stands aside.");
          close();
          return untouched;
        }
        const forms = chooseForms(negotiation, emit);
        negotiated = { negotiation, forms };
        whenNegotiated();
        if (servesTools) service.prepare();
        const served = servesTools ? [...servedTools.keys()] : [];
        return { forward: true, amendments: advertise(message, negotiation, forms, { version, tools: served }) };
      }
      case "open": {
        const id = request.sessionId ?? textOf(recordAt(message, "result")?.["sessionId"]);
        if (negotiated === undefined)
          tellOnce("warning", "A session was opened before initialize was answered, so it is shown no skills.");
        if (id === undefined || negotiated === undefined) release(request);
        else sessions.begin(id, request, negotiated, result);
        return untouched;
      }
      case "list":
        return toVerdict(restoreSessionTitles(result));
      case "end":
        sessions.end(request.sessionId);
        return untouched;
    }
  }

  function failed(error: unknown): Verdict {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    tellOnce("error", `A fault in acp-skills; messages pass on as they came. ${stack ?? message}`, message);
    return untouched;
  }

  function close(): void {
    isOpen = false;
    whenNegotiated();
    for (const request of pending.takeAll()) release(request);
    sessions.close();
    void service.close();
  }

  function called(id: string | number, method: string, params: unknown): Verdict {
    calls.add(id);
    try {
      service.ask({ id, method, params });
    } catch (error) {
      calls.delete(id);
      throw error;
    }
    return kept;
  }

  /** A message whose verdict never comes would hold up all that follow. */
  function guard(verdict: Verdict | Promise<Verdict>): Verdict | Promise<Verdict> {
    return verdict instanceof Promise ? verdict.catch(failed) : verdict;
  }

  return {
    fromEditor(message) {
      if (!isOpen) return untouched;
      try {
        const read = readMessage(message);
        if (read.kind !== "request" && read.kind !== "notification") return untouched;
        if (servesTools && read.method.startsWith(methods.toolMethodPrefix)) {
          if (read.kind === "notification") return kept;
          // The agent refuses it, but under the id that the editor waits for.
          if (!isExactId(read.id)) return untouched;
          return called(read.id, read.method, isRecord(message) ? message["params"] : undefined);
        }
        const session = sessions.find(read.params);
        if (session !== undefined) sessions.editorNamed(session, read.method === methods.sessionPrompt);
        if (read.kind === "request") return guard(editorAsked(read.id, read.method, read.params));
        return editorTold(read.method, read.params);
      } catch (error) {
        return failed(error);
      }
    },
    fromAgent(message) {
      if (!isOpen) return untouched;
      try {
        const read = readMessage(message);
        switch (read.kind) {
          case "notification":
            return read.method === methods.sessionUpdate ? guard(sessions.agentTold(message, read.params)) : untouched;
          case "request":
            return read.method === methods.requestPermission ? permissionAsked(read.id, read.params) : untouched;
          case "response": {
            const request = pending.take(read.id);
            // Nobody but us answers what the agent was never asked.
            if (request === undefined) return calls.has(read.id) ? kept : untouched;
            if (!read.failed) return agentAnswered(request, message, read.result);
            release(request);
            return untouched;
          }
          case "other":
            return untouched;
        }
      } catch (error) {
        return failed(error);
      }
    },
    editorInterest() {
      if (!isOpen) return [];
      return negotiated === undefined ? "everything" : editorInterest({ servesTools });
    },
    agentInterest() {
      if (!isOpen) return [];
      if (negotiated === undefined) return "everything";
      const awaits = !pending.isEmpty || calls.size > 0;
      return agentInterest({ servesTools, awaits });
    },
    editorLeft: whenNegotiated,
    close,
  };
}

/** What an interceptor is where nothing is announced and no tools are served. */
const transparent: Interceptor = {
  fromEditor: () => untouched,
  fromAgent: () => untouched,
  editorInterest: () => [],
  agentInterest: () => [],
  editorLeft: () => undefined,
  close: () => undefined,
};

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
