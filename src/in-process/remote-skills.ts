import { SkillsError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { toSettingsData } from "../options.ts";
import type { Skill } from "../skills/skill.ts";
import type { Channel } from "../base/threads/channel.ts";
import { chooseChannel } from "../base/threads/choose-channel.ts";
import type { CallFacts, FromSkills, Opening, PlainError, SkillNumber, ToSkills } from "./skills-messages.ts";
import { urlOf } from "../base/url-of.ts";

interface RemoteCall extends CallFacts {
  readonly name: string;
  readonly args: unknown;
  readonly signal: AbortSignal | undefined;
  readonly onPrint: ((text: string) => void) | undefined;
}

/** The tools, on a thread of their own. */
export interface RemoteSkills {
  /** Rejects with a SkillsError, or with the reason of the signal. */
  call(call: RemoteCall): Promise<unknown>;
  /** Releases everything. May be called more than once; never rejects. */
  close(): Promise<void>;
}

export interface RemoteSkillsOptions extends Omit<Opening, "asksVisible"> {
  readonly visible: ((skill: Skill) => boolean) | undefined;
}

/** How long the thread has to release what it holds before it is ended. */
const closingTime = 10_000;

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
  readonly onPrint: ((text: string) => void) | undefined;
}

/** Opens the tools; resolves once the skills have been read. */
export async function openRemoteSkills(
  settings: Settings,
  { visible, ...directories }: RemoteSkillsOptions,
): Promise<RemoteSkills> {
  const opening: Opening = { ...directories, asksVisible: visible !== undefined };
  const waiting = new Map<number, Waiting>();
  /** The skills that the other thread has shown us. */
  const seen = new Map<SkillNumber, Skill>();
  let lastCall = 0;
  let ended: string | undefined;
  let whenOpened = (): void => undefined;
  let whenEnded = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    whenOpened = resolve;
  });
  const gone = new Promise<void>((resolve) => {
    whenEnded = resolve;
  });
  let closing: Promise<void> | undefined;

  function receive(message: FromSkills): void {
    switch (message.kind) {
      case "opened":
        whenOpened();
        break;
      case "result":
        settle(message.call)?.resolve(message.value);
        break;
      case "error":
        settle(message.call)?.reject(toSkillsError(message.error));
        break;
      case "print":
        callBack(message.call, () => waiting.get(message.call)?.onPrint?.(message.text));
        break;
      case "see":
        for (const number of message.gone) seen.delete(number);
        for (const [number, skill] of message.skills) seen.set(number, skill);
        channel.post({
          kind: "hidden",
          call: message.call,
          numbers: callBack(message.call, hiddenNow) ?? [...seen.keys()],
        });
        break;
      case "log":
        settings.log(message.level, message.message);
        break;
    }
  }

  /** Calls a function of the caller's; what it throws ends the call that it belongs to, and not this process. */
  function callBack<Value>(call: number, ask: () => Value): Value | undefined {
    try {
      return ask();
    } catch (error) {
      channel.post({ kind: "abort", call });
      settle(call)?.reject(error);
      return undefined;
    }
  }

  function hiddenNow(): SkillNumber[] {
    return [...seen].filter(([, skill]) => visible?.(skill) === false).map(([number]) => number);
  }

  function settle(call: number): Waiting | undefined {
    const settled = waiting.get(call);
    waiting.delete(call);
    if (waiting.size === 0 && closing === undefined) channel.letGo();
    return settled;
  }

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
  const channel: Channel<ToSkills> = openChannel(receive, (reason) => {
    ended ??= reason;
    for (const call of [...waiting.keys()]) settle(call)?.reject(closed(reason));
    whenOpened();
    whenEnded();
  });
  channel.hold();
  await opened;
  channel.letGo();
  if (ended !== undefined) throw closed(ended);

  async function call({ signal, onPrint, ...facts }: RemoteCall): Promise<unknown> {
    signal?.throwIfAborted();
    if (ended !== undefined) throw closed(ended);
    const number = ++lastCall;
    const abort = (): void => {
      channel.post({ kind: "abort", call: number });
    };
    const answered = new Promise<unknown>((resolve, reject) => {
      waiting.set(number, { resolve, reject, onPrint });
    });
    channel.hold();
    signal?.addEventListener("abort", abort);
    try {
      post({ kind: "call", call: number, ...facts });
      return await answered;
    } catch (error) {
      settle(number);
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  function post(message: ToSkills): void {
    try {
      channel.post(message);
    } catch (error) {
      const message = `Arguments have to be plain data: ${error instanceof Error ? error.message : String(error)}`;
      throw new SkillsError("VALIDATION_ERROR", message, { cause: error });
    }
  }

  async function close(): Promise<void> {
    if (ended !== undefined) return;
    channel.hold();
    channel.post({ kind: "close" });
    const stopTimer = settings.clock.after(closingTime, () => {
      channel.end();
    });
    await gone;
    stopTimer();
  }

  return { call, close: () => (closing ??= close()) };
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
