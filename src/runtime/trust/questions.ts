import { unlessAborted } from "../../base/promises.ts";
import type { TrustCaller, Authorization, TrustEvent } from "../trust.ts";
import { type Question, type Reply, answerWords } from "../question.ts";
import { onlyOnce } from "./decisions.ts";
import type { TrustContext } from "./run-approval.ts";

/** Receives the user's decision once, before it takes effect, so that its record is never missing. Must not throw. */
export type OutcomeListener = (outcome: Authorization) => void;

/** A request that the user decides if nothing else has decided it. */
export interface ApprovalRequest extends Pick<TrustEvent, "about" | "skill"> {
  readonly caller: TrustCaller;
  /** Equal for requests that share one question. */
  readonly key: string;
  /** Decides without asking; undefined if the user has to be asked. */
  decide(): Promise<Authorization | undefined>;
  /** The question to the user; undefined if nobody may be asked. */
  question(): Promise<Question | undefined>;
  /** Applies a reply. May call `notify` with the outcome before it takes effect; otherwise the caller reports the returned outcome. */
  answer(reply: Reply, notify: OutcomeListener): Promise<Authorization>;
}

type QuestionsOptions = Pick<TrustContext, "record" | "decisions" | "clock">;

/** How often an open question is checked for a decision elsewhere: in another window, or on the command line. */
const checkIntervalMs = 1_000;

/** The open questions: of one owner, at most as many as the user may still refuse. */
export class Questions {
  readonly #options: QuestionsOptions;
  /** The running questions, by owner and by `ApprovalRequest.key`. */
  readonly #open = new Map<string, Map<string, Promise<unknown>>>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Decides, and asks if nothing has decided. Rejects only with the reason of the signal, or with what `answer` throws. */
  async resolve(request: ApprovalRequest, signal: AbortSignal): Promise<Authorization> {
    const { key, caller } = request;
    const { owner } = caller;
    for (;;) {
      signal.throwIfAborted();
      const decided = await this.#decide(request);
      if (decided?.allowed === false) this.#record(request, { type: "refused", detail: decided.why });
      if (decided !== undefined) return decided;
      const open = this.#open.get(owner);
      if (caller.ask === undefined || open === undefined) break;
      const isFull = open.size >= this.#options.decisions.left(owner);
      const before = open.get(key) ?? (isFull ? Promise.race(open.values()) : undefined);
      if (before === undefined) break;
      // The request that asked gets the outcome; this one then decides again.
      await unlessAborted(before.then(nothing, nothing), signal);
    }
    const open = this.#open.get(owner) ?? new Map<string, Promise<unknown>>();
    const asking = this.#ask(request, signal);
    this.#open.set(owner, open.set(key, asking));
    try {
      return await asking;
    } finally {
      open.delete(key);
      if (open.size === 0) this.#open.delete(owner);
    }
  }

  async #decide(request: ApprovalRequest): Promise<Authorization | undefined> {
    return (await request.decide()) ?? this.#options.decisions.enough(request.caller.owner);
  }

  async #ask(request: ApprovalRequest, signal: AbortSignal): Promise<Authorization> {
    const question = await request.question();
    if (question === undefined || request.caller.ask === undefined) {
      const refusal = await request.answer({ missing: "nobody" }, nothing);
      if (!refusal.allowed) this.#record(request, { type: "refused", detail: refusal.why });
      return refusal;
    }
    let isShown = false;
    const shown = (): void => {
      if (!isShown) this.#record(request, { type: "asked", detail: question.title });
      isShown = true;
    };
    const reply = await this.#reply(request, question, signal, shown);
    signal.throwIfAborted();
    const isElsewhere = "allowed" in reply;
    if (!isElsewhere && reply.answer !== undefined) shown();
    const notify = onlyOnce((outcome: Authorization) =>
      this.#record(request, {
        type: isShown || isElsewhere ? "answered" : "refused",
        allowed: outcome.allowed,
        answer: isElsewhere ? "elsewhere" : answerWords(reply),
        detail: outcome.allowed ? outcome.by : outcome.why,
      }),
    );
    const outcome = isElsewhere ? reply : await request.answer(reply, notify);
    notify(outcome);
    return outcome;
  }

  /** The user's reply, or a decision made elsewhere meanwhile, which withdraws the question. */
  async #reply(request: ApprovalRequest, question: Question, signal: AbortSignal, shown: () => void) {
    const { clock } = this.#options;
    const over = new AbortController();
    let decided: Authorization | undefined;
    const check = async (): Promise<void> => {
      decided = await this.#decide(request);
      if (over.signal.aborted) decided = undefined;
      else if (decided === undefined) stop = clock.after(checkIntervalMs, checkAgain);
      else over.abort();
    };
    const checkAgain = (): void => void check().catch((error: unknown) => over.abort(error));
    let stop = clock.after(checkIntervalMs, checkAgain);
    try {
      const { ask } = request.caller;
      return (await ask?.(question, AbortSignal.any([signal, over.signal]), shown)) ?? { missing: "nobody" };
    } catch (error) {
      signal.throwIfAborted();
      if (decided === undefined) throw error;
      return decided;
    } finally {
      over.abort();
      stop();
    }
  }

  #record({ about, skill, caller }: ApprovalRequest, step: Omit<TrustEvent, "about" | "skill" | "caller">): void {
    const { callerName, directory, transport, sessionId, subagent } = caller;
    const { name, version, digest } = skill;
    const event = {
      caller: { callerName, directory, transport, sessionId, subagent },
      about,
      skill: { name, version, digest },
    };
    this.#options.record({ ...step, ...event });
  }
}

const nothing = (): void => undefined;
