import type { Asker, Authorization, TrustEvent } from "../authorization.ts";
import type { Subject } from "../grants/grant.ts";
import { answerWords } from "./question.ts";
import type { Question, Reply } from "./question.ts";

/** One thing to be decided. */
export interface Matter {
  readonly key: string;
  readonly asker: Asker;
  readonly signal: AbortSignal;
  readonly event: Pick<TrustEvent, "about" | "subject">;
  readonly decide: () => Promise<Authorization | undefined>;
  readonly ask: () => Promise<Question | undefined>;
  readonly keep: (reply: Reply) => Promise<Authorization>;
}

/** The questions that are open; the same one is open only once for each owner. */
export class Questions {
  readonly #record: (event: TrustEvent) => void;
  /** By owner and by what is asked. */
  readonly #open = new Map<string, Promise<unknown>>();

  /** `record` must not throw. */
  constructor(record: (event: TrustEvent) => void) {
    this.#record = record;
  }

  /** Decides, and asks where nobody has decided. Rejects only with the reason of the signal, and as `keep` does. */
  async settle(matter: Matter): Promise<Authorization> {
    const { key, asker, signal, event, decide, ask, keep } = matter;
    const openKey = JSON.stringify([asker.owner, key]);
    const tell = (step: Pick<TrustEvent, "type" | "allowed" | "answer" | "detail">): void => {
      const { door, sessionId } = asker;
      const { name, version, digest } = event.subject as Subject;
      this.#record({
        ...step,
        asker: { door, sessionId },
        about: event.about,
        subject: { name, version, digest },
      });
    };
    for (;;) {
      signal.throwIfAborted();
      const decided = await decide();
      if (decided?.allowed === true) return decided;
      if (decided !== undefined) {
        tell({ type: "refused", detail: decided.why });
        return decided;
      }
      const open = this.#open.get(openKey);
      if (open === undefined) break;
      await untilSettled(open, signal);
    }
    const asking = (async (): Promise<Authorization> => {
      const question = await ask();
      if (question === undefined || asker.ask === undefined) {
        const refusal = await keep({ missing: "nobody" });
        if (!refusal.allowed) tell({ type: "refused", detail: refusal.why });
        return refusal;
      }
      tell({ type: "asked", detail: question.title });
      const reply = await asker.ask(question, signal);
      signal.throwIfAborted();
      const outcome = await keep(reply);
      tell({
        type: "answered",
        allowed: outcome.allowed,
        answer: answerWords(reply),
        detail: outcome.allowed ? outcome.by : outcome.why,
      });
      return outcome;
    })();
    this.#open.set(openKey, asking);
    try {
      return await asking;
    } finally {
      this.#open.delete(openKey);
    }
  }
}

/** Resolves when the promise is settled; rejects with the reason of the signal. */
async function untilSettled(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  let stop = (): void => undefined;
  const aborted = new Promise<void>((_, reject) => {
    stop = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([promise.then(nothing, nothing), aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function nothing(): void {
  // Whoever asked gets the outcome.
}
