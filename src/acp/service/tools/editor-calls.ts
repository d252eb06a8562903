import type { Log } from "../../../base/log.ts";
import { invalidInput, shown } from "../../../base/failures/invalid-input.ts";
import { asAvailable, nearest } from "../../../base/text/nearest.ts";
import { unlessAborted } from "../../../base/promises.ts";
import { SkillsError } from "../../../base/errors.ts";
import type { RunListener } from "../../../wire/run-event.ts";
import type { SessionSkills } from "../../../skills/skillset.ts";
import { toWireError } from "../../../wire/error-table.ts";
import { listProblems, progressNotification, toolMethodPrefix } from "../../../wire/methods.ts";
import { type Notification, sendWhenRead } from "../../emission.ts";
import { isRecord } from "../../messages/raw-message.ts";
import type { Ask } from "../../../runtime/question.ts";
import type { ToolRequest } from "../../skill-service.ts";
import type { Session } from "../session/session.ts";
import type { AgentTools, EditorCaller } from "./agent-tools.ts";
import { servedTools } from "../../../wire/tools.ts";

/** The response of acp-skills to a request of the editor. */
export interface Response {
  readonly jsonrpc: "2.0";
  readonly id: string | number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface EditorCallsOptions {
  readonly tools: AgentTools;
  readonly log: Log;
  /** Sends a message to the editor. `written` is called when the message was written, or never will be. */
  readonly send: (message: Response | Notification, written: () => void) => void;
  /** Called just before a response is sent. */
  readonly answered: (id: string | number) => void;
  /** The open sessions, the latest last. */
  readonly sessions: () => readonly Pick<
    Session,
    "id" | "catalog" | "directory" | "agent" | "protocol" | "showsForms"
  >[];
  /** Creates the function that asks the user in a session. */
  readonly askIn: (session: Pick<Session, "id" | "protocol" | "showsForms">) => Ask;
  /** Opens the skills outside any session: those of explicit directories and of the home directory. */
  readonly openSkills: () => SessionSkills;
}

/** The maximum number of calls that run or have unread responses. Further calls are refused. */
const maxCalls = 128;
/** The maximum length of output that waits until the editor has read the last message. The beginning of longer output is dropped. */
const maxUnreadLength = 64 * 1024;

/** ACP's error for a cancelled request. */
const cancelled = { code: -32800, message: "Request cancelled" } as const;

/** The editor's own calls: `_acp-skills/<tool>`. */
export class EditorCalls {
  readonly #options: EditorCallsOptions;
  readonly #running = new Set<{ readonly id: string | number; readonly controller: AbortController }>();
  #lastAnswer: Promise<void> = Promise.resolve();
  #withoutSession: SessionSkills | undefined;
  #isOpen = true;

  constructor(options: EditorCallsOptions) {
    this.#options = options;
  }

  /** Runs a call concurrently; responses are sent in the order of the requests. */
  call(request: ToolRequest): void {
    const entry = { id: request.id, controller: new AbortController() };
    this.#running.add(entry);
    const answered = this.#answer(request, entry.controller.signal);
    // Running code takes long, so the responses to other calls do not wait for it.
    const isSlow = servedTools.get(request.method.slice(toolMethodPrefix.length))?.executes === true;
    const before = isSlow ? Promise.resolve() : this.#lastAnswer;
    const inTurn = this.#answerInTurn(before, answered, () => this.#running.delete(entry));
    if (!isSlow) this.#lastAnswer = inTurn;
  }

  /** Cancels a call, which is answered with an error. Unknown ids are ignored. */
  cancel(id: string | number): void {
    for (const entry of this.#running) if (entry.id === id) entry.controller.abort();
  }

  /** Cancels every call. Nothing is sent afterwards. */
  close(): void {
    this.#isOpen = false;
    for (const { controller } of this.#running) controller.abort();
    this.#withoutSession?.close();
  }

  async #answer({ id, ...request }: ToolRequest, signal: AbortSignal): Promise<Response> {
    try {
      // A call that ignores its signal is abandoned.
      return { jsonrpc: "2.0", id, result: await unlessAborted(this.#result(id, request, signal), signal) };
    } catch (error) {
      return { jsonrpc: "2.0", id, error: signal.aborted ? cancelled : toWireError(error, this.#options) };
    }
  }

  async #result(
    id: string | number,
    { method, params }: Omit<ToolRequest, "id">,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (this.#running.size > maxCalls) throw tooManyCalls();
    const { sessionId, ...rest } = isRecord(params) ? params : {};
    const args = Object.fromEntries(Object.entries(rest).filter(([key]) => key !== "_meta"));
    if (method === `${toolMethodPrefix}${listProblems}`)
      return pageOfProblems(args, this.#findCaller(listProblems, sessionId).skills.catalog);
    const tool = toToolName(method);
    const caller = { ...this.#findCaller(tool, sessionId), onEvent: this.#openProgress(id, signal) };
    return await this.#options.tools.call(tool, isRecord(params) ? args : params, caller, signal);
  }

  /** Creates a listener that reports the output of a call. Output is collected until the editor has read the last message. */
  #openProgress(requestId: string | number, signal: AbortSignal): RunListener {
    let unread = "";
    const report = sendWhenRead((written) => {
      this.#send({ jsonrpc: "2.0", method: progressNotification, params: { requestId, message: unread } }, written);
      unread = "";
    });
    return (event) => {
      // A cancelled request is answered already.
      if (event.type !== "printed" || signal.aborted) return;
      unread = `${unread}${event.text}`.slice(-maxUnreadLength);
      report();
    };
  }

  #findCaller(tool: string, sessionId: unknown): EditorCaller {
    const sessions = this.#options.sessions();
    const id = sessionId ?? (sessions.length === 1 ? sessions[0]?.id : undefined);
    const session = sessions.findLast((open) => open.id === id);
    if (session !== undefined) {
      const ask = this.#options.askIn(session);
      return { sessionId: session.id, agent: session.agent, skills: session, ask };
    }
    if (id !== undefined || sessions.length > 1)
      throw unknownSession(
        tool,
        sessionId,
        sessions.map((open) => open.id),
      );
    this.#withoutSession ??= this.#options.openSkills();
    return { sessionId: undefined, skills: this.#withoutSession };
  }

  async #answerInTurn(before: Promise<void>, answered: Promise<Response>, read: () => void): Promise<void> {
    const response = await answered;
    await before;
    this.#options.answered(response.id);
    this.#send(response, read);
  }

  #send(message: Response | Notification, written: () => void): void {
    if (this.#isOpen) this.#options.send(message, written);
  }
}

function toToolName(method: string): string {
  const name = method.slice(toolMethodPrefix.length);
  if (servedTools.has(name)) return name;
  const available = nearest(name, [...servedTools.keys(), listProblems], asAvailable);
  const message = `Unknown method ${JSON.stringify(method.slice(0, 128))}.`;
  const facts = { available: available.map((near) => `${toolMethodPrefix}${near}`) };
  throw new SkillsError("METHOD_NOT_FOUND", message, { facts });
}

function tooManyCalls(): SkillsError {
  const message = `Too many calls: ${maxCalls} are running or have unread responses.`;
  return new SkillsError("RUNTIME_BUSY", message, { facts: { hint: "Read the responses, then retry." } });
}

function unknownSession(tool: string, sessionId: unknown, ids: readonly string[]): SkillsError {
  const expected = ids.length === 0 ? "none, because no session is open" : "the id of an open session";
  const available = nearest(typeof sessionId === "string" ? sessionId.slice(0, 80) : "", ids, asAvailable);
  return invalidInput(tool, [{ field: "/sessionId", expected, actual: shown(sessionId) }], { available });
}

const usualLimit = 100;
const maxLimit = 200;

/**
 * Answers `_acp-skills/list_problems` with `{offset?, limit?}`: a page of the problems of a session's skills, by default the first 100.
 * Pages may overlap if skills change between requests. `next_offset` is null on the last page. Throws VALIDATION_ERROR.
 */
function pageOfProblems(params: unknown, { snapshot: { problems } }: SessionSkills["catalog"]) {
  const { offset = 0, limit = usualLimit } = isRecord(params) ? params : {};
  if (!isWhole(offset, 0)) throw invalid("offset", "a whole number, 0 or more", offset);
  if (!isWhole(limit, 1)) throw invalid("limit", `a whole number from 1 to ${maxLimit}`, limit);
  const end = offset + Math.min(limit, maxLimit);
  return {
    problems: problems.slice(offset, end),
    total: problems.length,
    next_offset: end < problems.length ? end : null,
  };
}

function isWhole(value: unknown, min: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= min;
}

function invalid(name: string, expected: string, value: unknown): SkillsError {
  return invalidInput(listProblems, [{ field: `/${name}`, expected, actual: shown(value) }]);
}
