import type { Settings } from "../options.ts";
import type { SessionSkills, Skillset } from "../skillset.ts";
import type { Skill } from "../skills/skill.ts";
import * as methods from "../wire/methods.ts";
import type { Amendment } from "./amend.ts";
import { openEarlyCommands } from "./early-commands.ts";
import type { Notification } from "./emission.ts";
import { openProblemLog } from "./log-problems.ts";
import { advertise, chooseForms, type Forms, negotiate, type Negotiation } from "./negotiation.ts";
import { noSkills } from "./no-skills.ts";
import { openPendingRequests } from "./pending-requests.ts";
import { findInvocation, type Instructions, type Invocation, rewritePrompt } from "./prompt.ts";
import { type JsonRecord, readMessage, recordAt } from "./raw-message.ts";
import { openSession, type Session } from "./session.ts";
import { openShownSkills } from "./shown-skills.ts";
import { openToldOnce } from "./told-once.ts";

/** What becomes of a message that passes through. */
export type Verdict =
  { readonly forward: true; readonly amendments?: readonly Amendment[] } | { readonly forward: false };

/** Texts of which at least one stands in every message that may concern us; `"everything"` where that cannot be said. */
export type Interest = "everything" | readonly string[];

/**
 * Stands between an editor and its agent and looks at raw messages. It knows neither bytes nor streams: a mount shows it
 * each message in order, does what the verdict says, and keeps the order. A fault of ours never stops a message.
 */
export interface Interceptor {
  /** A promise only where a skill has to be read first; the mount holds the messages that follow until then. */
  readonly fromEditor: (message: unknown) => Verdict | Promise<Verdict>;
  readonly fromAgent: (message: unknown) => Verdict;
  readonly editorInterest: () => Interest;
  readonly agentInterest: () => Interest;
  /** Releases every session; nothing is sent after it. */
  readonly close: () => void;
}

export interface InterceptorOptions {
  readonly skillset: Skillset;
  readonly settings: Pick<Settings, "emit" | "version" | "log" | "clock">;
  readonly readInstructions: (skill: Skill) => Promise<Instructions>;
  /** When this connection began, in milliseconds since 1970: an agent may show skills as they were then. */
  readonly startedAt: number;
  /** Puts a message of ours on its way to the editor, behind what was forwarded before. Called outside of fromAgent only. */
  readonly send: (message: Notification) => void;
}

type Pending =
  | { readonly kind: "initialize"; readonly params: JsonRecord }
  | { readonly kind: "open"; readonly sessionId: string | undefined; readonly skills: SessionSkills }
  | { readonly kind: "end"; readonly sessionId: string };

const untouched: Verdict = { forward: true };
const nothing: Interest = [];
/** A slash may be escaped in JSON, and some serialisers do. */
const editorMethods: Interest = ["session/", "session\\/", `"${methods.initialize}"`];
/**
 * A piece of `available_commands_update`: short, and with a first letter that is rare in text, it is found four times as
 * fast as the whole. What has it by chance is parsed and passed on.
 */
const listPiece = "_comma";
const lists: Interest = [listPiece];
const listsAndResponses: Interest = [listPiece, '"result"', '"error"'];
const pendingLimit = 256;

/** Opens an interceptor for one connection. */
export function openInterceptor(options: InterceptorOptions): Interceptor {
  const { skillset, settings, readInstructions, startedAt, send } = options;
  const { emit, version, log, clock } = settings;
  const sessions = new Map<string, Session>();
  const listedEarly = openEarlyCommands();
  const { isNew, tellOnce } = openToldOnce(log);
  const logProblems = openProblemLog(log);
  const shownSkills = openShownSkills();
  const pending = openPendingRequests<Pending>(pendingLimit, release);
  let negotiated: { readonly negotiation: Negotiation; readonly forms: Forms } | undefined;
  let isOpen = emit !== "none";

  function release(request: Pending): void {
    if (request.kind === "open") request.skills.close();
  }

  function openSkills(params: JsonRecord): SessionSkills {
    const { cwd, additionalDirectories } = params;
    const directories = Array.isArray(additionalDirectories) ? additionalDirectories : [];
    try {
      return skillset.openSession({
        cwd: typeof cwd === "string" ? cwd : undefined,
        additionalDirectories: directories.filter((directory) => typeof directory === "string"),
      });
    } catch (error) {
      return noSkills(`Skills cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  function editorAsked(id: string | number, method: string, params: JsonRecord): void {
    const sessionId = textOf(params["sessionId"]);
    switch (method) {
      case methods.initialize:
        pending.add(id, { kind: "initialize", params });
        return;
      case methods.sessionNew:
      case methods.sessionFork:
        pending.add(id, { kind: "open", sessionId: undefined, skills: openSkills(params) });
        return;
      case methods.sessionLoad:
      case methods.sessionResume:
        pending.add(id, { kind: "open", sessionId, skills: openSkills(params) });
        return;
      case methods.sessionClose:
      case methods.sessionDelete:
        if (sessionId !== undefined) pending.add(id, { kind: "end", sessionId });
        return;
    }
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
        return { forward: true, amendments: advertise(message, negotiation, forms, version) };
      }
      case "open": {
        const id = request.sessionId ?? textOf(recordAt(message, "result")?.["sessionId"]);
        if (negotiated === undefined)
          tellOnce("A session was opened before initialize was answered, so it is shown no skills.");
        if (id === undefined || negotiated === undefined) release(request);
        else begin(id, request.skills, negotiated, result);
        return untouched;
      }
      case "end":
        sessions.get(request.sessionId)?.close();
        sessions.delete(request.sessionId);
        return untouched;
    }
  }

  function begin(id: string, skills: SessionSkills, agreed: NonNullable<typeof negotiated>, result: unknown): void {
    const early = listedEarly.take(id);
    const inResponse = recordAt({ result }, "result")?.["availableCommands"];
    const agentCommands = Array.isArray(inResponse)
      ? (inResponse as unknown[])
      : (early ?? sessions.get(id)?.agentCommands() ?? []);
    const session = openSession({
      id,
      skills,
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

  function lookAtPrompt(params: JsonRecord): Verdict | Promise<Verdict> {
    const session = sessions.get(textOf(params["sessionId"]) ?? "");
    if (session === undefined) return untouched;
    session.promptArrived();
    const invocation = findInvocation(params["prompt"]);
    return invocation === undefined ? untouched : invoke(session, invocation).catch(failed);
  }

  async function invoke(session: Session, invocation: Invocation): Promise<Verdict> {
    const found = await session.find(invocation.name);
    if (found === undefined) return untouched;
    const { offered, shown } = found;
    // A name that the agent gave to something else is its own; the skill still has its dollar sign.
    if (shown === "as-other" && invocation.sigil === "/") return untouched;
    try {
      const instructions = await readInstructions(offered.skill);
      // What the agent shows is its own to run, unless it may have read it before an edit.
      if (shown === "as-skill" && instructions.changedAt <= startedAt) return untouched;
      const embeddedContext = negotiated?.negotiation.embeddedContext ?? false;
      return { forward: true, amendments: rewritePrompt(invocation, offered, instructions, embeddedContext) };
    } catch (error) {
      log(
        "warning",
        `The skill ${offered.skill.slug} could not be read: ${String(error)}. The prompt is sent as it is.`,
      );
      return untouched;
    }
  }

  function failed(error: unknown): Verdict {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    if (isNew(message)) log("error", `A fault in acp-skills; messages pass on as they came. ${stack ?? message}`);
    return untouched;
  }

  function close(): void {
    isOpen = false;
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
        if (read.kind !== "request") return untouched;
        if (read.method === methods.sessionPrompt || read.method === methods.sessionSteering)
          return lookAtPrompt(read.params);
        editorAsked(read.id, read.method, read.params);
        return untouched;
      } catch (error) {
        return failed(error);
      }
    },
    fromAgent(message) {
      if (!isOpen) return untouched;
      try {
        const read = readMessage(message);
        if (read.kind === "notification")
          return read.method === methods.sessionUpdate ? agentListed(message, read.params) : untouched;
        const request = read.kind === "response" ? pending.take(read.id) : undefined;
        if (request === undefined || read.kind !== "response") return untouched;
        if (!read.failed) return agentAnswered(request, message, read.result);
        release(request);
        return untouched;
      } catch (error) {
        return failed(error);
      }
    },
    editorInterest() {
      if (!isOpen) return nothing;
      return negotiated === undefined ? "everything" : editorMethods;
    },
    agentInterest() {
      if (!isOpen) return nothing;
      if (negotiated === undefined) return "everything";
      return pending.isEmpty ? lists : listsAndResponses;
    },
    close,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
