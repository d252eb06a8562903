import { randomUUID } from "node:crypto";
import type { Clock } from "../../../base/clock.ts";
import { type OnceLog, createOnceLog } from "../../../base/log.ts";
import { createDeferred } from "../../../base/promises.ts";
import type { Answer, Ask, Question, Reply } from "../../../runtime/question.ts";
import { ownRequestPrefix, sessionUpdate, toolCall, toolCallUpdate } from "../../../wire/methods.ts";
import { encodeMessage } from "../../emission.ts";
import type { JsonRecord } from "../../messages/raw-message.ts";
import type { ServiceOutlet } from "../../skill-service.ts";
import { type AskedAs, type EditorReply, fromEditorReply } from "../../messages/editor-reply.ts";
import { toElicitation, toPermissionRequest } from "./permission-request.ts";

/** The maximum time for the user's answer. */
const answerMs = 5 * 60_000;
/** The maximum number of open questions per connection. */
const maxOpen = 32;

/** A session in which the editor can be asked. */
interface QuestionTarget {
  readonly id: string;
  /** The editor's version of ACP. */
  readonly protocol: 1 | 2;
  readonly showsForms: boolean;
}

interface OpenQuestion {
  readonly sessionId: string;
  readonly asked: AskedAs;
  readonly shown: (() => void) | undefined;
  readonly resolve: (reply: Reply) => void;
}

/** The beginning of the title of an answered question, so that nobody takes the question for a second run. */
const decided: Readonly<Record<Answer, string>> = {
  once: "Allowed once",
  trust: "Trusted",
  "not-now": "Not now",
  block: "Blocked",
};

/** The questions to the user at the editor of one connection: forms if the editor shows them, else permission requests. */
export class EditorQuestions {
  readonly #outlet: ServiceOutlet;
  readonly #clock: Clock;
  /** The open questions, by the ids of their requests. */
  readonly #open = new Map<string, OpenQuestion>();
  #isOpen = true;
  readonly #logOnce: OnceLog["logOnce"];

  constructor(outlet: ServiceOutlet, clock: Clock) {
    this.#outlet = outlet;
    this.#clock = clock;
    this.#logOnce = createOnceLog(outlet.log).logOnce;
  }

  askIn(session: QuestionTarget): Ask {
    return (question, signal, shown) => this.#ask(question, session, signal, shown);
  }

  /** Called when a request was sent to the editor. Unknown ids are ignored. */
  shown(id: string): void {
    this.#open.get(id)?.shown?.();
  }

  /** Called with the editor's response to a request and the editor's time for it. Unknown ids are ignored. */
  replied(id: string, reply: EditorReply, elapsedMs: number): void {
    const question = this.#open.get(id);
    if (question === undefined) return;
    question.resolve(fromEditorReply(reply, question.asked, { elapsedMs, logOnce: this.#logOnce }));
  }

  /** Cancels the questions of a session that ended. */
  endSession(sessionId: string): void {
    for (const question of this.#open.values())
      if (question.sessionId === sessionId) question.resolve({ missing: "cancelled" });
  }

  /** Cancels all questions. Later questions have no answer. */
  close(): void {
    this.#isOpen = false;
    for (const { resolve } of this.#open.values()) resolve({ missing: "cancelled" });
  }

  async #ask(
    question: Question,
    session: QuestionTarget,
    signal: AbortSignal,
    shown: OpenQuestion["shown"],
  ): Promise<Reply> {
    signal.throwIfAborted();
    if (!this.#isOpen) return { missing: "nobody" };
    if (this.#open.size >= maxOpen)
      return { missing: "failed", detail: `${maxOpen} other questions are open in this editor` };
    const outlet = this.#outlet;
    const id = `${ownRequestPrefix}${randomUUID()}`;
    const toolCallId = `${ownRequestPrefix}question-${randomUUID()}`;
    const { protocol, id: sessionId, showsForms } = session;
    const toRequest = showsForms ? toElicitation : toPermissionRequest;
    const { method, params, fields, asked } = toRequest(question, { sessionId, toolCallId, protocol });
    const { promise: answered, resolve } = createDeferred<Reply>();
    const stopTimer = this.#clock.after(answerMs, () => resolve({ missing: "timeout" }));
    const abort = (): void => resolve({ missing: "cancelled" });
    signal.addEventListener("abort", abort, { once: true });
    this.#open.set(id, { sessionId, asked, shown, resolve });
    try {
      // The call is reported first, like an agent's call: editors drop an update of a call that they do not know.
      this.#report(session, { sessionUpdate: protocol === 2 ? toolCallUpdate : toolCall, ...fields });
      outlet.request(id, encodeMessage({ jsonrpc: "2.0", id, method, params }));
      const reply = await answered;
      if (reply.answer === undefined && reply.missing === "timeout")
        this.#logOnce("warning", "A question in the editor was not answered within 5 minutes, which counts as no.");
      // `withdraw` does nothing if the editor has responded.
      outlet.withdraw(id);
      const isAllowed = reply.answer === "once" || reply.answer === "trust";
      // Without this update, editors would show the call as running forever.
      this.#report(session, {
        sessionUpdate: toolCallUpdate,
        toolCallId,
        title: `${signal.aborted ? "Withdrawn" : reply.answer === undefined ? "Not answered" : decided[reply.answer]}: ${question.title}`,
        status: isAllowed ? "completed" : "failed",
      });
      signal.throwIfAborted();
      return reply;
    } finally {
      stopTimer();
      signal.removeEventListener("abort", abort);
      this.#open.delete(id);
    }
  }

  #report({ id }: QuestionTarget, update: JsonRecord): void {
    const message = { jsonrpc: "2.0", method: sessionUpdate, params: { sessionId: id, update } };
    this.#outlet.send(encodeMessage(message), () => undefined);
  }
}
