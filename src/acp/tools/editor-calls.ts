import type { Log } from "../../base/log.ts";
import { invalidInput } from "../../base/invalid-input.ts";
import { asAvailable, nearest } from "../../base/nearest.ts";
import { SkillsError } from "../../errors.ts";
import { onPrinted } from "../../runs/run-event.ts";
import type { Problem } from "../../skills/rules/problem.ts";
import type { SessionSkills } from "../../skills/skillset.ts";
import { servedTools } from "../../tools/tool.ts";
import { toWireError } from "../../wire/error-table.ts";
import { listProblems, progressNotification, toolMethodPrefix } from "../../wire/methods.ts";
import type { Notification } from "../announce/emission.ts";
import { isRecord } from "../bytes/raw-message.ts";
import type { ToolRequest } from "../service/skill-service.ts";
import type { Session } from "../session/session.ts";
import type { AgentTools, EditorCaller } from "./agent-tools.ts";

/** Our response to a request of the editor. */
export interface Response {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The editor's own calls: `_acp-skills/<tool>`. */
interface EditorCalls {
  /** Runs a call concurrently; responses are sent in the order of the requests. */
  ask(request: ToolRequest): void;
  /** Cancels a call, which is answered with an error. Unknown ids are ignored. */
  cancel(id: string | number): void;
  /** Cancels every call; nothing is sent afterwards. */
  close(): void;
}

interface EditorCallsOptions {
  readonly tools: AgentTools;
  readonly log: Log;
  /** Sends a message to the editor; `written` is called when it was written, or never will be. */
  readonly send: (message: Response | Notification, written: () => void) => void;
  /** Called for every response that is sent. */
  readonly answered: (id: string | number) => void;
  /** The skills of each open session. */
  readonly sessions: ReadonlyMap<string, Pick<Session, "catalog" | "directory" | "agent">>;
  /** Opens the skills outside any session: those of explicit directories and of the home directory. */
  readonly openSkills: () => SessionSkills;
}

/** How many calls may be running or have unread responses; more are refused. */
const maxCalls = 128;
/** The limit of output that the editor has not read; beyond it, the beginning is dropped. */
const longestUnread = 64 * 1024;

/** ACP's error for a cancelled request. */
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

  /** Reports the output of a call; while the editor has not read the last message, output is collected. */
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
      // A cancelled request is answered already.
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
      // Running code takes long: the responses to other calls do not wait for it.
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

/** A call that ignores its signal is abandoned. */
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
  const message = `Unknown method ${JSON.stringify(method.slice(0, 128))}.`;
  throw new SkillsError("METHOD_NOT_FOUND", message, { facts: { available } });
}

function tooManyCalls(): SkillsError {
  const message = `Too many calls: ${maxCalls} are running or have unread responses.`;
  return new SkillsError("RUNTIME_BUSY", message, { facts: { hint: "Read the responses, then retry." } });
}

const longestShown = 80;

function unknownSession(tool: string, sessionId: unknown, ids: readonly string[]): SkillsError {
  const actual =
    typeof sessionId === "string"
      ? sessionId.slice(0, longestShown)
      : sessionId === undefined
        ? null
        : typeof sessionId;
  const expected = ids.length === 0 ? "none, because no session is open" : "the id of an open session";
  const available = nearest(actual ?? "", ids, asAvailable);
  return invalidInput(tool, [{ field: "/sessionId", expected, actual }], { available });
}

/** The answer to `_acp-skills/list_problems`. */
interface ProblemPage {
  readonly problems: readonly Problem[];
  /** The number of all problems. */
  readonly total: number;
  /** Where the next page begins; null on the last. */
  readonly next_offset: number | null;
}

const usualLimit = 100;
const mostLimit = 200;

/**
 * A page of the problems of a session's skills: `{offset?, limit?}`, by default the first 100. Pages may overlap if skills change between
 * requests. Throws VALIDATION_ERROR.
 */
function pageOfProblems(params: unknown, { snapshot: { problems } }: SessionSkills["catalog"]): ProblemPage {
  const { offset = 0, limit = usualLimit } = isRecord(params) ? params : {};
  if (!isWhole(offset, 0)) throw invalid("offset", "a whole number, 0 or more", offset);
  if (!isWhole(limit, 1)) throw invalid("limit", `a whole number from 1 to ${mostLimit}`, limit);
  const end = offset + Math.min(limit, mostLimit);
  return {
    problems: problems.slice(offset, end),
    total: problems.length,
    next_offset: end < problems.length ? end : null,
  };
}

function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least;
}

function invalid(name: string, expected: string, value: unknown): SkillsError {
  const actual = typeof value === "number" && Number.isFinite(value) ? value : typeof value;
  return new SkillsError("VALIDATION_ERROR", `Invalid parameters of list_problems. ${name}: expected ${expected}.`, {
    facts: { violations: [{ field: `/${name}`, expected, actual }] },
  });
}
