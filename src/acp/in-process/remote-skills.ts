import { resolve } from "node:path";
import { ThreadClient, portChannel } from "../../base/processes/threads.ts";
import { SkillsError, fromPlainError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Settings } from "../../runtime/options.ts";
import type { Problem } from "../../skills/rules.ts";
import type { Answer, Question, Reply } from "../../runtime/question.ts";
import type { Skill } from "../../skills/skill.ts";
import type { AvailableSkill } from "../../wire/available-skill.ts";
import type {
  CallFacts,
  CallResult,
  FromSkills,
  Opening,
  SkillService,
  SkillsChange,
  ToSkills,
} from "../skill-service.ts";

interface RemoteCall extends CallFacts {
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  readonly onPrint: ((text: string) => void) | undefined;
}

/** The directories of a session's skills, as in `session/new`. */
export interface NewSession {
  readonly cwd: string;
  /** More directories whose default roots are searched for skills. */
  readonly additionalDirectories?: readonly string[] | undefined;
}

interface RemoteSkillsOptions extends NewSession {
  readonly visible?: ((skill: Skill) => boolean) | undefined;
  readonly ask?: AskUser | undefined;
}

/** Asks the user. Resolves with undefined if the user did not answer. `signal` is aborted when the answer is no longer needed. */
export type AskUser = (question: Question, signal: AbortSignal) => Promise<Answer | undefined>;

/** The tools of a service on another thread, with the skills of one session. */
export class RemoteSkills {
  readonly #log: Log;
  readonly #visible: RemoteSkillsOptions["visible"];
  readonly #thread: ThreadClient<ToSkills, FromSkills>;
  readonly #onPrint = new Map<number, RemoteCall["onPrint"]>();
  /** Every version of the skills, by number, if there is a `visible` to choose among them. */
  #numbered: readonly (readonly [number, Skill])[] = [];
  /** The open questions, by number. */
  readonly #questions = new Map<number, AbortController>();
  readonly #ask: RemoteSkillsOptions["ask"];
  readonly #listeners = new Set<(change: SkillsChange) => void>();
  problems: readonly Problem[] = [];
  #opened: Promise<unknown> | undefined;
  /** Why the skills could not be read. */
  #failure: SkillsError | undefined;

  constructor(
    serve: SkillService["serveSkills"],
    { log, clock }: Pick<Settings, "log" | "clock">,
    { visible, ask, cwd, additionalDirectories = [] }: RemoteSkillsOptions,
  ) {
    this.#log = log;
    this.#visible = visible;
    this.#ask = ask;
    const opening: Opening = {
      cwd: resolve(cwd),
      additionalDirectories: additionalDirectories.map((directory) => resolve(directory)),
      ...{ asksVisible: visible !== undefined, canAsk: ask !== undefined },
    };
    this.#thread = new ThreadClient<ToSkills, FromSkills>({
      openChannel: portChannel((port) => serve(port, opening)),
      received: (message) => this.#receive(message),
      ended: () => {
        for (const question of this.#questions.values()) question.abort();
      },
      log,
      clock,
    });
  }

  /** Resolves when the skills have been read. Rejects with the reason why that failed, or with CLOSED if the thread ends first. */
  async opened(): Promise<void> {
    if (this.#opened === undefined || !this.#thread.isAlive)
      this.#opened = this.#thread.call((call) => ({ kind: "open", call }));
    await this.#opened.catch((error: unknown) => {
      throw this.#failure ?? error;
    });
  }

  /** Releases the session's resources on the thread. Idempotent; never rejects. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  /** Lists the visible skills, as editors get them. Waits until they have been read. */
  async list(): Promise<readonly AvailableSkill[]> {
    await this.opened();
    const answer = await this.#thread.call((call) => ({ kind: "list", call, visible: this.#visibleNumbers() }));
    return (answer as { readonly value: readonly AvailableSkill[] }).value;
  }

  onChange(listener: (change: SkillsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Calls a tool. Rejects with a SkillsError, or with the reason of the signal. */
  async call({ signal, onPrint, ...facts }: RemoteCall): Promise<unknown> {
    signal?.throwIfAborted();
    await this.opened();
    signal?.throwIfAborted();
    const visible = this.#visibleNumbers();
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
      if ("error" in result) throw fromPlainError(result.error);
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

  #visibleNumbers(): readonly number[] | undefined {
    const isVisible = this.#visible;
    return isVisible && this.#numbered.filter(([, skill]) => isVisible(skill)).map(([number]) => number);
  }

  #receive(message: FromSkills): void {
    switch (message.kind) {
      case "skills":
        this.problems = message.problems;
        this.#numbered = message.numbered;
        if (message.change !== undefined) this.#notifyOfChange(message.change);
        break;
      case "print":
        this.#print(message.call, message.text);
        break;
      case "ask":
        void this.#askUser(message.question, message.asked);
        break;
      case "withdrawn":
        this.#questions.get(message.question)?.abort();
        break;
      case "failed":
        this.#failure = fromPlainError(message.error);
        break;
    }
  }

  async #askUser(number: number, question: Question): Promise<void> {
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
        this.#log("error", `A listener of onChange failed: ${String(error)}`);
      }
    }
  }

  /** Passes output to the caller's callback, whose exception rejects and aborts the call. */
  #print(call: number, text: string): void {
    try {
      this.#onPrint.get(call)?.(text);
    } catch (error) {
      this.#thread.post({ kind: "abort", call });
      this.#thread.reject(call, error);
    }
  }
}

/**
 * The skills that were added or opened: those of the working directory, or of the `cwd` of `openSkills`. They are read when they are first
 * used.
 */
export interface SkillsHandle extends AsyncDisposable {
  /** Resolves when the skills have been read. Rejects with CLOSED. */
  readonly ready: Promise<void>;
  /** Lists the skills as editors get them. Waits until they have been read. Rejects with CLOSED. */
  list(): Promise<readonly AvailableSkill[]>;
  /** Calls `listener` after skills were added, changed or removed on disk; the returned function unsubscribes. */
  onChange(listener: (change: SkillsChange) => void): () => void;
  /** The problems of all skills, whether visible or not. Empty until the skills have been read; replaced with each change. */
  readonly problems: readonly Problem[];
  /** Opens the skills of one session, in the directories that `session/new` names. Close the handle with the session. */
  forSession(session: NewSession): SkillsHandle;
  /** Stops watching, and releases everything. Idempotent; never rejects. */
  close(): Promise<void>;
}

interface HandleOptions {
  /** Called when the skills are first used. */
  readonly open: () => RemoteSkills;
  readonly openSession: (session: NewSession) => RemoteSkills;
  /** Releases everything, even if `open` was never called. */
  readonly close: () => Promise<void>;
}

/** Adds a handle's properties to an object, except those that the object already has. */
export function withHandle<Target extends object>(
  target: Target,
  { open, openSession, close }: HandleOptions,
): Target & SkillsHandle {
  let opened: RemoteSkills | undefined;
  const remote = (): RemoteSkills => (opened ??= open());
  const handle: SkillsHandle = {
    get ready() {
      return remote().opened();
    },
    async list() {
      return await remote().list();
    },
    onChange: (listener) => remote().onChange(listener),
    get problems() {
      return remote().problems;
    },
    forSession(session) {
      const own = openSession(session);
      return withHandle({}, { open: () => own, openSession, close: () => own.close() });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  // The properties are not enumerable: a copy of the object would read them and so open the skills.
  for (const key of Reflect.ownKeys(handle))
    if (!Object.hasOwn(target, key))
      Object.defineProperty(target, key, { ...Object.getOwnPropertyDescriptor(handle, key), enumerable: false });
  return target as Target & SkillsHandle;
}
