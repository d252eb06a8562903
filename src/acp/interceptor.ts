import type { Settings } from "../options.ts";
import type { Skillset } from "../skillset.ts";
import { openProblemLog } from "../skills/log-problems.ts";
import type { Skill } from "../skills/skill.ts";
import { openToldOnce } from "../told-once.ts";
import * as methods from "../wire/methods.ts";
import type { AgentTools } from "./agent-tools.ts";
import { approve } from "./approval.ts";
import { openEarlyCommands } from "./early-commands.ts";
import { openEditorCalls, type Response } from "./editor-calls.ts";
import type { Notification } from "./emission.ts";
import { agentInterest, editorInterest, type Interest } from "./interests.ts";
import { advertise, chooseForms, type Forms, negotiate, type Negotiation } from "./negotiation.ts";
import { openOpenings, type Opening } from "./openings.ts";
import { openPendingRequests } from "./pending-requests.ts";
import type { Instructions } from "./prompt.ts";
import { openPrompts } from "./prompts.ts";
import { isRecord, type JsonRecord, readMessage, recordAt } from "./raw-message.ts";
import { servedTools } from "./served-tools.ts";
import { openSession, type Session } from "./session.ts";
import { openShownSkills } from "./shown-skills.ts";
import { kept, toVerdict, untouched, type Verdict } from "./verdict.ts";

/**
 * Stands between an editor and its agent and looks at raw messages. It knows neither bytes nor streams: a mount shows it
 * each message in order, does what the verdict says, and keeps the order. A fault of ours never stops a message.
 */
export interface Interceptor {
  /** A promise only where a skill or the tools have to be read first; the mount holds the messages that follow until then. */
  readonly fromEditor: (message: unknown) => Verdict | Promise<Verdict>;
  readonly fromAgent: (message: unknown) => Verdict;
  readonly editorInterest: () => Interest;
  readonly agentInterest: () => Interest;
  /** Releases every session; nothing is sent after it. */
  readonly close: () => void;
}

export interface InterceptorOptions {
  readonly skillset: Skillset;
  readonly settings: Pick<Settings, "emit" | "version" | "log" | "clock" | "tools" | "teach" | "approveReadOnly">;
  /** Undefined where no tools are served. The one who opened them closes them. */
  readonly tools: AgentTools | undefined;
  readonly readInstructions: (skill: Skill) => Promise<Instructions>;
  /** When this connection began, in milliseconds since 1970: an agent may show skills as they were then. */
  readonly startedAt: number;
  /** Puts a message of ours on its way to the editor, behind what was forwarded before. Called outside of fromAgent only. */
  readonly send: (message: Notification | Response) => void;
  /** Puts an answer of ours on its way to the agent. */
  readonly reply: (message: Response) => void;
}

type Pending =
  | { readonly kind: "initialize"; readonly params: JsonRecord }
  | Opening
  | { readonly kind: "end"; readonly sessionId: string };

const pendingLimit = 256;

/** Opens an interceptor for one connection. */
export function openInterceptor(options: InterceptorOptions): Interceptor {
  const { skillset, settings, tools, readInstructions, startedAt, send, reply } = options;
  const { emit, version, log, clock, approveReadOnly } = settings;
  const sessions = new Map<string, Session>();
  /** The request that each session's latest turn began with. */
  const turns = new Map<string, string | number>();
  const listedEarly = openEarlyCommands();
  const { tellOnce } = openToldOnce(log);
  const logProblems = openProblemLog(log);
  const shownSkills = openShownSkills();
  const pending = openPendingRequests<Pending>(pendingLimit, release);
  let negotiated: { readonly negotiation: Negotiation; readonly forms: Forms } | undefined;
  /** The editor has asked the agent what it can. */
  let isAsked = false;
  let isOpen = emit !== "none" || tools !== undefined;
  const lookAtPrompt = openPrompts({ readInstructions, startedAt, log });
  const calls = tools && openEditorCalls({ tools, log, send, sessions, openSkills: () => openings.openSkills({}) });
  const openings = openOpenings({
    skillset,
    tools,
    settings,
    negotiation: awaitNegotiation,
    tellOnce,
    send: sendWhileOpen,
  });
  let whenNegotiated = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    whenNegotiated = resolve;
  });

  async function awaitNegotiation(): Promise<Negotiation | undefined> {
    if (isAsked) await answered;
    return negotiated?.negotiation;
  }

  function release(request: Pending): void {
    if (request.kind === "open") openings.release(request);
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
      case methods.sessionClose:
      case methods.sessionDelete:
        if (sessionId !== undefined) pending.add(id, { kind: "end", sessionId });
        return untouched;
      case methods.sessionPrompt:
        if (sessionId !== undefined && sessions.has(sessionId)) turns.set(sessionId, id);
        return userSaid(method, params);
      case methods.sessionSteering:
        return userSaid(method, params);
      default:
        return untouched;
    }
  }

  function openingAsked(
    id: string | number,
    sessionId: string | undefined,
    params: JsonRecord,
  ): Verdict | Promise<Verdict> {
    const opening = openings.open(params, sessionId);
    pending.add(id, opening);
    const equipped = openings.equip(opening, params);
    return equipped === undefined ? untouched : equipped.then(toVerdict);
  }

  function userSaid(method: string, params: JsonRecord): Verdict | Promise<Verdict> {
    const session = sessions.get(textOf(params["sessionId"]) ?? "");
    if (session === undefined || negotiated === undefined) return untouched;
    const amendments = lookAtPrompt(session, method, params, negotiated.negotiation);
    return amendments instanceof Promise ? amendments.then(toVerdict, failed) : toVerdict(amendments);
  }

  /** What the model has running of our tools ends, whatever its agent makes of the cancellation. */
  function endTurn(sessionId: string | undefined): void {
    sessions.get(sessionId ?? "")?.tools?.cancel();
  }

  function requestCancelled(requestId: unknown): Verdict {
    if (calls?.cancel(requestId) === true) return kept;
    for (const [sessionId, id] of turns) if (id === requestId) endTurn(sessionId);
    return untouched;
  }

  /** Answers in the editor's place where we may. */
  function permissionAsked(id: string | number, params: JsonRecord): Verdict {
    const session = sessions.get(textOf(params["sessionId"]) ?? "");
    // An answer of ours has its id spelt anew: not every number survives that.
    const isExact = typeof id === "string" || Number.isSafeInteger(id);
    const server = approveReadOnly && isExact ? session?.tools?.server : undefined;
    const approval = server && approve(params, server);
    if (approval === undefined) return untouched;
    const { tool, optionId } = approval;
    log("info", `Allowed the agent to call ${tool} once: it only reads.`);
    reply({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected", optionId } } });
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
        const served = tools === undefined ? [] : [...servedTools.keys()];
        return { forward: true, amendments: advertise(message, negotiation, forms, { version, tools: served }) };
      }
      case "open": {
        const id = request.sessionId ?? textOf(recordAt(message, "result")?.["sessionId"]);
        if (negotiated === undefined)
          tellOnce("warning", "A session was opened before initialize was answered, so it is shown no skills.");
        if (id === undefined || negotiated === undefined) release(request);
        else begin(id, request, negotiated, result);
        return untouched;
      }
      case "end":
        sessions.get(request.sessionId)?.close();
        sessions.delete(request.sessionId);
        turns.delete(request.sessionId);
        return untouched;
    }
  }

  function begin(id: string, opening: Opening, agreed: NonNullable<typeof negotiated>, result: unknown): void {
    const { skills, tools: ofSession } = opening;
    opening.isOver = true;
    ofSession?.begin(id);
    const early = listedEarly.take(id);
    const inResponse = recordAt({ result }, "result")?.["availableCommands"];
    const agentCommands = Array.isArray(inResponse)
      ? (inResponse as unknown[])
      : (early ?? sessions.get(id)?.agentCommands() ?? []);
    const session = openSession({
      id,
      skills,
      tools: ofSession,
      ...agreed,
      agentCommands,
      shown: shownSkills,
      clock,
      send: sendWhileOpen,
      tellOnce,
      logProblems,
      fault: failed,
    });
    sessions.get(id)?.close();
    sessions.set(id, session);
  }

  function sendWhileOpen(message: Notification): void {
    if (isOpen) send(message);
  }

  function agentListed(message: unknown, params: JsonRecord): Verdict {
    const update = recordAt(params, "update");
    const id = textOf(params["sessionId"]);
    const commands = update?.["availableCommands"];
    if (update?.["sessionUpdate"] !== methods.availableCommandsUpdate || id === undefined || !Array.isArray(commands))
      return untouched;
    const session = sessions.get(id);
    if (session !== undefined) return { forward: true, amendments: session.agentListed(commands, message) };
    listedEarly.add(id, commands);
    return untouched;
  }

  function failed(error: unknown): Verdict {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    tellOnce("error", `A fault in acp-skills; messages pass on as they came. ${stack ?? message}`, message);
    return untouched;
  }

  function close(): void {
    isOpen = false;
    whenNegotiated();
    calls?.close();
    for (const request of pending.takeAll()) release(request);
    for (const session of sessions.values()) session.close();
    sessions.clear();
    listedEarly.clear();
  }

  return {
    fromEditor(message) {
      if (!isOpen) return untouched;
      try {
        const read = readMessage(message);
        if (read.kind !== "request" && read.kind !== "notification") return untouched;
        if (calls !== undefined && read.method.startsWith(methods.toolMethodPrefix)) {
          if (read.kind === "request")
            calls.ask(read.id, read.method, isRecord(message) ? message["params"] : undefined);
          return kept;
        }
        if (read.kind === "request") return editorAsked(read.id, read.method, read.params);
        if (read.method === methods.sessionCancel) endTurn(textOf(read.params["sessionId"]));
        return read.method === methods.cancelRequest ? requestCancelled(read.params["requestId"]) : untouched;
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
            return read.method === methods.sessionUpdate ? agentListed(message, read.params) : untouched;
          case "request":
            return read.method === methods.requestPermission ? permissionAsked(read.id, read.params) : untouched;
          case "response": {
            const request = pending.take(read.id);
            if (request === undefined) return untouched;
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
      return negotiated === undefined ? "everything" : editorInterest({ servesTools: tools !== undefined });
    },
    agentInterest() {
      if (!isOpen) return [];
      if (negotiated === undefined) return "everything";
      return agentInterest({ approves: tools !== undefined && approveReadOnly, awaits: !pending.isEmpty });
    },
    close,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
