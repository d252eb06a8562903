import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  type ServerContext,
  inputRequired,
} from "@modelcontextprotocol/server";
import { type Clock, timeWaited } from "../base/clock.ts";
import { isObject } from "../base/json/json-value.ts";
import { createDeferred } from "../base/promises.ts";
import { type Ask, type Question, type Reply, asUserReply, toLine, toLines } from "../runtime/question.ts";
import type { RunListener } from "../wire/run-event.ts";

/** The maximum time for the user's answer. */
const answerMs = 5 * 60_000;
/** The timeout of the library's own timer, which does not use `clock` and must not fire first. */
const libraryTimeoutMs = 2 * answerMs;
/** The maximum number of open questions per client. */
const maxOpen = 8;

/** The way to ask the user at the client: a request of the server, or a result that asks for input. */
export type AskBy = "request" | "result";

/** Whether a client with these capabilities shows forms. */
export function showsForms(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities["elicitation"] : undefined;
  if (!isObject(elicitation)) return false;
  const { form = null, url = null } = elicitation;
  return form !== null || url === null;
}

/** Creates a wrapper that refuses a question to one client while `maxOpen` others are open. */
export function limitQuestions(): (ask: Ask) => Ask {
  let open = 0;
  return (ask) => async (question, signal, shown) => {
    if (open >= maxOpen) return { missing: "failed", detail: `${maxOpen} other questions are open` };
    open += 1;
    try {
      return await ask(question, signal, shown);
    } finally {
      open -= 1;
    }
  };
}

/** Creates an `Ask` that sends `elicitation/create`, for the revisions in which a server can send requests. */
export function askByRequest(send: ServerContext["mcpReq"]["send"], clock: Clock): Ask {
  return async (question, signal, shown) => {
    signal.throwIfAborted();
    const late = new AbortController();
    const stopTimer = clock.after(answerMs, () => late.abort());
    try {
      const request = { method: "elicitation/create", params: { ...toForm(question) } } as const;
      const askedAt = timeWaited(clock);
      const asking = send(request, { signal: AbortSignal.any([signal, late.signal]), timeout: libraryTimeoutMs });
      shown?.();
      return asUserReply(fromElicitResult(await asking, question), timeWaited(clock) - askedAt);
    } catch (error) {
      signal.throwIfAborted();
      if (late.signal.aborted) return { missing: "timeout" };
      const detail = error instanceof Error ? error.message : String(error);
      return { missing: "failed", detail: `the client answered: ${toLine(detail, maxDetailLength)}` };
    } finally {
      stopTimer();
    }
  };
}

const maxDetailLength = 200;
/** Makes the form of a question: one choice, before which every client shows the message. */
export function toForm(question: Question): ElicitRequestFormParams {
  const answer = { type: "string" as const, title: "Answer", enum: question.options.map(({ label }) => label) };
  return {
    mode: "form",
    message: toLines(question).join("\n"),
    requestedSchema: { type: "object", properties: { answer }, required: ["answer"] },
  };
}

/** Converts a client's response to a reply. A response that is not exactly an answer allows nothing. */
export function fromElicitResult(response: unknown, { options }: Pick<Question, "options">): Reply {
  const { action, content } = (response ?? {}) as Readonly<Record<string, unknown>>;
  if (action === "decline") return { answer: "not-now" };
  if (action === "cancel") return { missing: "cancelled" };
  const given = action === "accept" ? ((content ?? {}) as Readonly<Record<string, unknown>>)["answer"] : undefined;
  const chosen = options.find(({ label }) => label === given);
  if (chosen !== undefined) return { answer: chosen.answer };
  return { missing: "failed", detail: "the client's response is none of the answers" };
}

/** The request that begins a call, or one that continues it. */
type Leg = Pick<ServerContext["mcpReq"], "signal" | "requestState"> & {
  /** The client's responses, untrusted. */
  readonly inputResponses: Readonly<Record<string, unknown>> | undefined;
  /** Receives the events of the run while this request is open. */
  readonly onEvent: RunListener;
};

type Perform = (given: {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly onEvent: RunListener;
}) => Promise<CallToolResult>;

/** A call that continues while its client is asked. */
interface SuspendedCall {
  readonly result: Promise<CallToolResult>;
  readonly controller: AbortController;
  readonly waiting: OpenQuestion[];
  /** The listener of the open request. */
  listener: RunListener | undefined;
  /** Resolves when a question may be waiting. */
  asked: ReturnType<typeof createDeferred<undefined>>;
}

interface OpenQuestion {
  readonly question: Question;
  readonly shown: (() => void) | undefined;
  readonly resolve: (reply: Reply) => void;
}

/**
 * Asks by results (2026-07-28). The result of a call that asks is the question, and the call continues in the background. The client then
 * sends the request again, with the user's answer and the state from the result. The state is an id that nobody else can guess and that is
 * valid once. Everything else in the repeated request is ignored.
 */
export class SuspendedCalls {
  readonly #clock: Clock;
  readonly #open = new Map<string, { readonly call: SuspendedCall; readonly asked: OpenQuestion; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts a call, or continues the call to which the request belongs. */
  async answer(leg: Leg, perform: Perform): Promise<CallToolResult | InputRequiredResult> {
    const state = leg.requestState();
    if (state === undefined) return await this.#next(this.#start(perform), leg);
    const open = typeof state === "string" ? this.#open.get(state) : undefined;
    if (open === undefined) return { content: [{ type: "text", text: notOpen }], isError: true };
    this.#close(open.call, open.asked);
    const reply = fromElicitResult(leg.inputResponses?.["answer"], open.asked.question);
    open.asked.resolve(asUserReply(reply, timeWaited(this.#clock) - open.at));
    return await this.#next(open.call, leg);
  }

  #start(perform: Perform): SuspendedCall {
    const controller = new AbortController();
    const waiting: OpenQuestion[] = [];
    const ask: Ask = (question, signal, shown) => this.#ask(call, { question, shown }, signal);
    const { signal } = controller;
    const onEvent: RunListener = (event) => call.listener?.(event);
    const call: SuspendedCall = {
      controller,
      waiting,
      listener: undefined,
      asked: createDeferred<undefined>(),
      // `perform` runs later, when `call` is defined.
      result: Promise.resolve().then(() => perform({ ask, signal, onEvent })),
    };
    // If the client never repeats its request, nobody awaits this promise.
    call.result.catch(() => undefined);
    return call;
  }

  /** Waits for the result of the call, or its next question. */
  async #next(call: SuspendedCall, { signal, onEvent }: Leg): Promise<CallToolResult | InputRequiredResult> {
    call.listener = onEvent;
    const abort = (): void => call.controller.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    try {
      for (;;) {
        const result = await Promise.race([call.result, call.asked.promise]);
        if (result !== undefined) return result;
        call.asked = createDeferred();
        // The question may be closed already.
        const asked = call.waiting[0];
        if (asked !== undefined) return this.#suspend(call, asked);
      }
    } finally {
      call.listener = undefined;
      signal.removeEventListener("abort", abort);
    }
  }

  #suspend(call: SuspendedCall, asked: OpenQuestion): InputRequiredResult {
    const requestState = randomUUID();
    this.#open.set(requestState, { call, asked, at: timeWaited(this.#clock) });
    asked.shown?.();
    return inputRequired({ inputRequests: { answer: inputRequired.elicit(toForm(asked.question)) }, requestState });
  }

  async #ask(
    call: SuspendedCall,
    question: Pick<OpenQuestion, "question" | "shown">,
    signal: AbortSignal,
  ): Promise<Reply> {
    signal.throwIfAborted();
    const { promise, resolve } = createDeferred<Reply>();
    const asked: OpenQuestion = { ...question, resolve };
    const stopTimer = this.#clock.after(answerMs, () => resolve({ missing: "timeout" }));
    const abort = (): void => resolve({ missing: "cancelled" });
    signal.addEventListener("abort", abort, { once: true });
    call.waiting.push(asked);
    call.asked.resolve(undefined);
    try {
      const reply = await promise;
      signal.throwIfAborted();
      return reply;
    } finally {
      stopTimer();
      signal.removeEventListener("abort", abort);
      this.#close(call, asked);
    }
  }

  #close(call: SuspendedCall, asked: OpenQuestion): void {
    const index = call.waiting.indexOf(asked);
    if (index >= 0) call.waiting.splice(index, 1);
    if (call.waiting.length > 0) call.asked.resolve(undefined);
    for (const [state, open] of this.#open) if (open.asked === asked) this.#open.delete(state);
  }
}

const notOpen = "This question is no longer open. Call the tool again.";
