import type { Clock } from "../../base/clock.ts";
import { unlessAborted } from "../../base/promises.ts";
import type { Asker, Authorization, TrustEvent } from "../trust.ts";
import type { Subject } from "./grants.ts";
import { type Ask, type Question, type Reply, answerWords } from "../question.ts";

/** Arguments of what a person decided, once, and before that is in force: a record of it is never missing. Must not throw. */
export type OutcomeListener = (outcome: Authorization) => void;

/** Passes on the first call only. */
export function onlyOnce<Arguments extends readonly unknown[]>(
  notify: ((...given: Arguments) => void) | undefined,
): (...given: Arguments) => void {
  let left = notify;
  return (...given) => {
    const first = left;
    left = undefined;
    first?.(...given);
  };
}

/** One thing to be decided. */
export interface Matter {
  readonly key: string;
  readonly asker: Asker;
  readonly signal: AbortSignal;
  readonly event: Pick<TrustEvent, "about" | "subject">;
  readonly decide: () => Promise<Authorization | undefined>;
  readonly ask: () => Promise<Question | undefined>;
  readonly keep: (reply: Reply, notify: OutcomeListener) => Promise<Authorization>;
}

interface QuestionsOptions {
  /** Must not throw. */
  readonly record: (event: TrustEvent) => void;
  /** How many more questions a person may refuse in this turn. */
  readonly left: (owner: string) => number;
  readonly clock: Clock;
}

/** How often it is looked whether an open question was decided elsewhere: in another window, or on the command line. */
const lookingInterval = 1_000;

/** The questions that are open: no more of one owner than the person may refuse. */
export class Questions {
  readonly #options: QuestionsOptions;
  /** By owner and by what is asked. */
  readonly #open = new Map<string, Map<string, Promise<unknown>>>();

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Decides, and asks where nobody has decided. Rejects only with the reason of the signal, and as `keep` does. */
  async settle(matter: Matter): Promise<Authorization> {
    const { key, asker, signal, event, decide, ask, keep } = matter;
    const { owner } = asker;
    const record = (step: Pick<TrustEvent, "type" | "allowed" | "answer" | "detail">): void => {
      const { caller, directory, door, sessionId } = asker;
      const { name, version, digest } = event.subject as Subject;
      this.#options.record({
        ...step,
        asker: { caller, directory, door, sessionId },
        about: event.about,
        subject: { name, version, digest },
      });
    };
    for (;;) {
      signal.throwIfAborted();
      const decided = await decide();
      if (decided?.allowed === true) return decided;
      if (decided !== undefined) {
        record({ type: "refused", detail: decided.why });
        return decided;
      }
      const open = this.#open.get(owner);
      if (asker.ask === undefined || open === undefined) break;
      const isFull = open.size >= this.#options.left(owner);
      const before = open.get(key) ?? (isFull ? Promise.race(open.values()) : undefined);
      if (before === undefined) break;
      // Whoever asked gets the outcome.
      await unlessAborted(before.then(nothing, nothing), signal);
    }
    const asking = (async (): Promise<Authorization> => {
      const question = await ask();
      if (question === undefined || asker.ask === undefined) {
        const refusal = await keep({ missing: "nobody" }, nothing);
        if (!refusal.allowed) record({ type: "refused", detail: refusal.why });
        return refusal;
      }
      let isShown = false;
      const shown = (): void => {
        if (!isShown) record({ type: "asked", detail: question.title });
        isShown = true;
      };
      const reply = await this.#reply(matter, asker.ask, question, shown);
      signal.throwIfAborted();
      if ("answer" in reply && reply.answer !== undefined) shown();
      const answer = "allowed" in reply ? "elsewhere" : answerWords(reply);
      const notifyOutcome: OutcomeListener = (outcome) => {
        const detail = outcome.allowed ? outcome.by : outcome.why;
        record({
          type: isShown || answer === "elsewhere" ? "answered" : "refused",
          allowed: outcome.allowed,
          answer,
          detail,
        });
      };
      if (!("allowed" in reply)) return await keep(reply, notifyOutcome);
      notifyOutcome(reply);
      return reply;
    })();
    const open = this.#open.get(owner) ?? new Map<string, Promise<unknown>>();
    this.#open.set(owner, open.set(key, asking));
    try {
      return await asking;
    } finally {
      open.delete(key);
      if (open.size === 0) this.#open.delete(owner);
    }
  }

  /** The person's reply, or what was decided elsewhere meanwhile: then the question is withdrawn. */
  async #reply(
    { decide, signal }: Matter,
    ask: Ask,
    question: Question,
    shown: () => void,
  ): Promise<Reply | Authorization> {
    const { clock } = this.#options;
    const over = new AbortController();
    const look = async (): Promise<void> => {
      const decided = await decide();
      if (over.signal.aborted) return;
      if (decided === undefined) stop = clock.after(lookingInterval, lookAgain);
      else over.abort(new DecidedElsewhere(decided));
    };
    const lookAgain = (): void => void look().catch((error: unknown) => over.abort(error));
    let stop = clock.after(lookingInterval, lookAgain);
    try {
      return await ask(question, AbortSignal.any([signal, over.signal]), shown);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DecidedElsewhere) return error.decided;
      throw error;
    } finally {
      over.abort();
      stop();
    }
  }
}

class DecidedElsewhere extends Error {
  readonly decided: Authorization;

  constructor(decided: Authorization) {
    super("The question was decided elsewhere.");
    this.decided = decided;
  }
}

const nothing = (): void => undefined;
