import { chooseChannel, ThreadClient } from "../../base/processes/threads.ts";
import { SkillsError } from "../../base/errors.ts";
import { type Settings, toSettingsData } from "../../runtime/options.ts";
import type { Problem } from "../../skills/rules.ts";
import type { Answer, Question, Reply } from "../../runtime/question.ts";
import type { Skill } from "../../skills/skill.ts";
import type { CallFacts, CallResult, FromSkills, Opening, PlainError, SkillsChange, ToSkills } from "./serve-skills.ts";

interface RemoteCall extends CallFacts {
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  readonly onPrint: ((text: string) => void) | undefined;
}

export interface RemoteSkillsOptions extends Omit<Opening, "asksVisible" | "hasPerson"> {
  readonly visible: ((skill: Skill) => boolean) | undefined;
  readonly ask: AskPerson | undefined;
}

/** Asks a person; undefined where they did not answer. `signal` is aborted when the answer is no longer needed. */
export type AskPerson = (question: Question, signal: AbortSignal) => Promise<Answer | undefined>;

/** How long the thread may take to close before it is terminated. */
const closingTime = 10_000;

/** Opens the tools on a worker thread; resolves when the skills have been read. */
export async function openRemoteSkills(settings: Settings, options: RemoteSkillsOptions): Promise<RemoteSkills> {
  const skills = new RemoteSkills(settings, options);
  await skills.opened();
  return skills;
}

/** The tools on a worker thread. */
export class RemoteSkills {
  readonly #settings: Settings;
  readonly #visible: RemoteSkillsOptions["visible"];
  readonly #thread: ThreadClient<ToSkills, FromSkills>;
  readonly #onPrint = new Map<number, RemoteCall["onPrint"]>();
  /** Every version of the skills, by number, if `visible` decides about them. */
  #numbered: readonly (readonly [number, Skill])[] = [];
  /** The questions that are open. */
  readonly #questions = new Map<number, AbortController>();
  readonly #ask: RemoteSkillsOptions["ask"];
  readonly #listeners = new Set<(change: SkillsChange) => void>();
  #problems: readonly Problem[] = [];

  constructor(settings: Settings, { visible, ask, ...directories }: RemoteSkillsOptions) {
    const { log, clock } = settings;
    this.#settings = settings;
    this.#visible = visible;
    this.#ask = ask;
    const opening: Opening = { ...directories, asksVisible: visible !== undefined, hasPerson: ask !== undefined };
    this.#thread = new ThreadClient<ToSkills, FromSkills>({
      openChannel: chooseChannel({
        place: "acp/in-process/worker.js",
        workerData: { settings: toSettingsData(settings), opening },
        serve: async (port) => {
          const { serveSkills } = await import("./serve-skills.ts");
          serveSkills(port, settings, opening);
        },
        log,
      }),
      received: (message) => this.#receive(message),
      ended: () => {
        for (const question of this.#questions.values()) question.abort();
      },
      closingTime,
      log,
      clock,
    });
  }

  /** Resolves when the skills have been read; rejects with CLOSED if the thread ends first. */
  async opened(): Promise<void> {
    await this.#thread.call((call) => ({ kind: "open", call }));
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  onChange(listener: (change: SkillsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Rejects with a SkillsError, or with the reason of the signal. */
  async call({ signal, onPrint, ...facts }: RemoteCall): Promise<unknown> {
    signal?.throwIfAborted();
    const isVisible = this.#visible;
    const visible = isVisible && this.#numbered.filter(([, skill]) => isVisible(skill)).map(([number]) => number);
    let number = 0;
    const abort = (): void => this.#thread.post({ kind: "abort", call: number });
    signal?.addEventListener("abort", abort);
    try {
      const answer = await this.#thread.call((call) => {
        number = call;
        this.#onPrint.set(call, onPrint);
        return { kind: "call", call, visible, ...facts };
      });
      const result = answer as CallResult;
      if ("error" in result) throw toSkillsError(result.error);
      return result.value;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof DOMException) || error.name !== "DataCloneError") throw error;
      throw new SkillsError("VALIDATION_ERROR", `Arguments must be plain data: ${error.message}`, { cause: error });
    } finally {
      this.#onPrint.delete(number);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Releases everything. Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  #receive(message: FromSkills): void {
    switch (message.kind) {
      case "skills":
        this.#problems = message.problems;
        this.#numbered = message.numbered;
        if (message.change !== undefined) this.#notifyOfChange(message.change);
        break;
      case "print":
        this.#print(message.call, message.text);
        break;
      case "ask":
        void this.#askPerson(message.question, message.asked);
        break;
      case "withdrawn":
        this.#questions.get(message.question)?.abort();
        break;
    }
  }

  async #askPerson(number: number, question: Question): Promise<void> {
    const controller = new AbortController();
    this.#questions.set(number, controller);
    let reply: Reply;
    try {
      const answer = await this.#ask?.(question, controller.signal);
      const isKnown = question.options.some((option) => option.answer === answer);
      reply = answer !== undefined && isKnown ? { answer } : { missing: "failed", detail: "there was no answer" };
    } catch (error) {
      reply = { missing: "failed", detail: String(error) };
    }
    this.#questions.delete(number);
    this.#thread.post({ kind: "answered", question: number, reply });
  }

  #notifyOfChange(change: SkillsChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#settings.log("error", `A listener of onChange failed: ${String(error)}`);
      }
    }
  }

  /** An exception of the caller's callback rejects the call that it belongs to. */
  #print(call: number, text: string): void {
    try {
      this.#onPrint.get(call)?.(text);
    } catch (error) {
      this.#thread.post({ kind: "abort", call });
      this.#thread.reject(call, error);
    }
  }
}

function toSkillsError({ code, message, facts, cause }: PlainError): SkillsError {
  return new SkillsError(code, message, {
    facts: { ...facts },
    ...(cause !== undefined && { cause: new Error(cause) }),
  });
}
