import { type Channel, chooseChannel, closeChannel } from "../base/threads.ts";
import { urlOf } from "../base/url-of.ts";
import { SkillsError } from "../errors.ts";
import { type Settings, toSettingsData } from "../options.ts";
import type { Problem } from "../skills/rules/problem.ts";
import type { Skill } from "../skills/skill.ts";
import type {
  CallFacts,
  FromSkills,
  Opening,
  PlainError,
  SkillNumber,
  SkillsChange,
  ToSkills,
} from "./skills-messages.ts";

interface RemoteCall extends CallFacts {
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  readonly onPrint: ((text: string) => void) | undefined;
}

export interface RemoteSkillsOptions extends Omit<Opening, "asksVisible"> {
  readonly visible: ((skill: Skill) => boolean) | undefined;
}

/** How long the thread may take to close before it is terminated. */
const closingTime = 10_000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onPrint: ((text: string) => void) | undefined;
}

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
  readonly #channel: Channel<ToSkills>;
  readonly #waiting = new Map<number, Waiting>();
  /** The skills that the thread has sent so far. */
  readonly #seen = new Map<SkillNumber, Skill>();
  readonly #listeners = new Set<(change: SkillsChange) => void>();
  readonly #opened = createEvent();
  readonly #gone = createEvent();
  #problems: readonly Problem[] = [];
  #lastCall = 0;
  #ended: string | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: Settings, { visible, ...directories }: RemoteSkillsOptions) {
    this.#settings = settings;
    this.#visible = visible;
    const opening: Opening = { ...directories, asksVisible: visible !== undefined };
    const openChannel = chooseChannel<ToSkills, FromSkills>({
      entry: new URL("./worker.js", urlOf(import.meta)),
      place: "in-process/worker.js",
      workerData: { settings: toSettingsData(settings), opening },
      serve: async (port) => {
        const { serveSkills } = await import("./serve-skills.ts");
        serveSkills(port, settings, opening);
      },
      log: settings.log,
    });
    this.#channel = openChannel(
      (message) => {
        this.#receive(message);
      },
      (reason) => {
        this.#hasEnded(reason);
      },
    );
  }

  /** Resolves when the skills have been read; rejects with CLOSED if the thread ends first. */
  async opened(): Promise<void> {
    this.#channel.hold();
    await this.#opened.happened;
    this.#channel.letGo();
    if (this.#ended !== undefined) throw closed(this.#ended);
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
    if (this.#ended !== undefined) throw closed(this.#ended);
    const call = ++this.#lastCall;
    const abort = (): void => {
      this.#channel.post({ kind: "abort", call });
    };
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject, onPrint });
    });
    this.#channel.hold();
    signal?.addEventListener("abort", abort);
    try {
      this.#post({ kind: "call", call, ...facts });
      return await answered;
    } catch (error) {
      this.#settle(call);
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Releases everything. Idempotent; never rejects. */
  close(): Promise<void> {
    const { clock } = this.#settings;
    const ended = this.#gone.happened;
    this.#closing ??=
      this.#ended === undefined
        ? closeChannel(this.#channel, { kind: "close" }, { ended, clock, ms: closingTime })
        : Promise.resolve();
    return this.#closing;
  }

  #receive(message: FromSkills): void {
    switch (message.kind) {
      case "opened":
        this.#opened.happen();
        break;
      case "skills":
        this.#problems = message.problems;
        if (message.change !== undefined) this.#tellChange(message.change);
        break;
      case "result":
        this.#settle(message.call)?.resolve(message.value);
        break;
      case "error":
        this.#settle(message.call)?.reject(toSkillsError(message.error));
        break;
      case "print":
        this.#callBack(message.call, () => this.#waiting.get(message.call)?.onPrint?.(message.text));
        break;
      case "see": {
        const { call } = message;
        for (const number of message.gone) this.#seen.delete(number);
        for (const [number, skill] of message.skills) this.#seen.set(number, skill);
        const numbers = this.#callBack(call, () => this.#hiddenNow()) ?? [...this.#seen.keys()];
        this.#channel.post({ kind: "hidden", call, numbers });
        break;
      }
      case "log":
        this.#settings.log(message.level, message.message);
        break;
    }
  }

  #hasEnded(reason: string): void {
    this.#ended ??= reason;
    for (const call of [...this.#waiting.keys()]) this.#settle(call)?.reject(closed(reason));
    this.#opened.happen();
    this.#gone.happen();
  }

  #tellChange(change: SkillsChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#settings.log("error", `A listener of onChange failed: ${String(error)}`);
      }
    }
  }

  /** Runs a callback of the caller's; an exception rejects the call that it belongs to. */
  #callBack<Value>(call: number, ask: () => Value): Value | undefined {
    try {
      return ask();
    } catch (error) {
      this.#channel.post({ kind: "abort", call });
      this.#settle(call)?.reject(error);
      return undefined;
    }
  }

  #hiddenNow(): SkillNumber[] {
    return [...this.#seen].filter(([, skill]) => this.#visible?.(skill) === false).map(([number]) => number);
  }

  #settle(call: number): Waiting | undefined {
    const settled = this.#waiting.get(call);
    this.#waiting.delete(call);
    if (this.#waiting.size === 0 && this.#closing === undefined) this.#channel.letGo();
    return settled;
  }

  #post(message: ToSkills): void {
    try {
      this.#channel.post(message);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new SkillsError("VALIDATION_ERROR", `Arguments must be plain data: ${reason}`, { cause: error });
    }
  }
}

function createEvent(): { readonly happened: Promise<void>; readonly happen: () => void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => {
    happen = resolve;
  });
  return { happened, happen };
}

function closed(reason: string): SkillsError {
  return new SkillsError("CLOSED", `The skills were closed. ${reason}`);
}

function toSkillsError({ code, message, facts, cause }: PlainError): SkillsError {
  return new SkillsError(code, message, {
    facts: { ...facts },
    ...(cause !== undefined && { cause: new Error(cause) }),
  });
}
