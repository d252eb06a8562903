import { SkillsError } from "../../errors.ts";
import type { Log } from "../../base/log.ts";
import { asAvailable, nearest } from "../../base/nearest.ts";
import { onPrinted } from "../../runs/run-event.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { toWireError } from "../../wire/error-table.ts";
import { listProblems, progressNotification, toolMethodPrefix } from "../../wire/methods.ts";
import type { AgentTools, EditorCaller } from "./agent-tools.ts";
import type { Notification } from "../announce/emission.ts";
import { isRecord } from "../bytes/raw-message.ts";
import { pageOfProblems } from "../announce/problem-pages.ts";
import type { ToolRequest } from "../service/skill-service.ts";
import { servedTools } from "../../tools/tool-names.ts";
import type { Session } from "../session/session.ts";

/** Our answer to a request, under the id of whoever asked. */
export interface Response {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The editor's own calls of our tools: `_acp-skills/<tool>`. */
export interface EditorCalls {
  /** Runs a call beside others; the answers are sent in the order of the requests. */
  ask(request: ToolRequest): void;
  /** Gives up a call, which is then answered with an error. Nothing for an id that is not one of ours. */
  cancel(id: string | number): void;
  /** Gives up every call; nothing is sent after it. */
  close(): void;
}

export interface EditorCallsOptions {
  readonly tools: AgentTools;
  readonly log: Log;
  /** Puts a message on its way to the editor; `written` is called once it has left this process, or never will. */
  readonly send: (message: Response | Notification, written: () => void) => void;
  /** Told of every answer, when it is on its way. */
  readonly answered: (id: string | number) => void;
  /** The skills of each open session. */
  readonly sessions: ReadonlyMap<string, Pick<Session, "catalog" | "directory" | "agent">>;
  /** Opens the skills that there are without a session: those of the explicit and of the home directories. */
  readonly openSkills: () => SessionSkills;
}

/** So many calls may run, or have answers that the editor has not read yet; one more is refused. */
const maxCalls = 128;
/** What code printed and an editor has not read yet: beyond this, the beginning is dropped. */
const longestUnread = 64 * 1024;

/** ACP's error for a request that was given up. */
const cancelled = { code: -32800, message: "Request cancelled" } as const;

export function openEditorCalls(options: EditorCallsOptions): EditorCalls {
  const { tools, log, send, answered: told, sessions, openSkills } = options;
  const running = new Set<{ readonly id: string | number; readonly controller: AbortController }>();
  let lastAnswer: Promise<void> = Promise.resolve();
  let withoutSession: SessionSkills | undefined;
  let isOpen = true;

  async function answer(id: string | number, method: string, params: unknown, signal: AbortSignal): Promise<Response> {
    try {
      return { jsonrpc: "2.0", id, result: await unlessAborted(call(id, method, params, signal), signal) };
    } catch (error) {
      return { jsonrpc: "2.0", id, error: signal.aborted ? cancelled : toWireError(error, { log }) };
    }
  }

  async function call(id: string | number, method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (running.size > maxCalls) throw tooManyCalls();
    if (method === `${toolMethodPrefix}${listProblems}`)
      return pageOfProblems(params, findCatalog(listProblems, params));
    const tool = toToolName(method);
    const onEvent = onPrinted(openProgress(id, signal));
    if (!isRecord(params)) return await tools.call(tool, params, { ...findCaller(tool, undefined), onEvent }, signal);
    const args = Object.fromEntries(Object.entries(params).filter(([key]) => key !== "sessionId" && key !== "_meta"));
    return await tools.call(tool, args, { ...findCaller(tool, params["sessionId"]), onEvent }, signal);
  }

  function findCatalog(method: string, params: unknown): SessionSkills["catalog"] {
    return findCaller(method, isRecord(params) ? params["sessionId"] : undefined).skills.catalog;
  }

  /** Tells what a call prints; what comes while the editor has not read the last of it is gathered. */
  function openProgress(requestId: string | number, signal: AbortSignal): (text: string) => void {
    let unread = "";
    let isUnread = false;
    function next(): void {
      isUnread = false;
      if (unread === "") return;
      const message = unread;
      unread = "";
      isUnread = true;
      tell({ jsonrpc: "2.0", method: progressNotification, params: { requestId, message } }, next);
    }
    return (text) => {
      // A request that was given up is answered already.
      if (signal.aborted) return;
      unread = `${unread}${text}`.slice(-longestUnread);
      if (!isUnread) next();
    };
  }

  function findCaller(tool: string, sessionId: unknown): EditorCaller {
    const ids = [...sessions.keys()];
    const id = sessionId ?? (ids.length === 1 ? ids[0] : undefined);
    const session = typeof id === "string" ? sessions.get(id) : undefined;
    if (typeof id === "string" && session !== undefined)
      return { sessionId: id, agent: session.agent, skills: session };
    if (id !== undefined || ids.length > 1) throw unknownSession(tool, sessionId, ids);
    withoutSession ??= openSkills();
    return { sessionId: undefined, skills: withoutSession };
  }

  async function answerInTurn(before: Promise<void>, answered: Promise<Response>, read: () => void): Promise<void> {
    const response = await answered;
    await before;
    told(response.id);
    tell(response, read);
  }

  function tell(message: Response | Notification, written: () => void): void {
    if (isOpen) send(message, written);
  }

  return {
    ask({ id, method, params }) {
      const entry = { id, controller: new AbortController() };
      running.add(entry);
      const answered = answer(id, method, params, entry.controller.signal);
      // What executes takes its time: the answers to other calls do not wait for it.
      const before = isSlow(method) ? Promise.resolve() : lastAnswer;
      const inTurn = answerInTurn(before, answered, () => {
        running.delete(entry);
      });
      if (!isSlow(method)) lastAnswer = inTurn;
    },
    cancel(id) {
      for (const entry of running) if (entry.id === id) entry.controller.abort();
    },
    close() {
      isOpen = false;
      for (const { controller } of running) controller.abort();
      withoutSession?.close();
    },
  };
}

/** A call that does not hear of its end is left to itself. */
async function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const abort = (): void => {
      reject(new Error("aborted"));
    };
    signal.addEventListener("abort", abort);
    stop = () => {
      signal.removeEventListener("abort", abort);
    };
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}

function isSlow(method: string): boolean {
  return servedTools.get(method.slice(toolMethodPrefix.length))?.executes === true;
}

function toToolName(method: string): string {
  const name = method.slice(toolMethodPrefix.length);
  if (servedTools.has(name)) return name;
  const available = nearest(name, [...servedTools.keys(), listProblems], asAvailable).map(
    (near) => `${toolMethodPrefix}${near}`,
  );
  const message = `There is no method ${JSON.stringify(method.slice(0, 128))}.`;
  throw new SkillsError("METHOD_NOT_FOUND", message, { facts: { available } });
}

function tooManyCalls(): SkillsError {
  const message = `More than ${maxCalls} calls of this editor run or have answers that it has not read yet.`;
  return new SkillsError("RUNTIME_BUSY", message, { facts: { hint: "Read the answers, then call again." } });
}

const longestShown = 80;

function unknownSession(tool: string, sessionId: unknown, ids: readonly string[]): SkillsError {
  const actual =
    typeof sessionId === "string"
      ? sessionId.slice(0, longestShown)
      : sessionId === undefined
        ? null
        : typeof sessionId;
  const expected = ids.length === 0 ? "none, for no session is open" : "the id of an open session";
  const available = nearest(actual ?? "", ids, asAvailable);
  const message = `Invalid input to ${tool}. sessionId: expected ${expected}, got ${actual === null ? "nothing" : JSON.stringify(actual)}.`;
  const violations = [{ field: "/sessionId", expected, actual }];
  return new SkillsError("VALIDATION_ERROR", message, { facts: { violations, available } });
}
