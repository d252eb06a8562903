import type { Settings } from "../../options.ts";
import { closeChannel, type OpenChannel } from "../../base/threads/channel.ts";
import type { FromService, ToService } from "./service-messages.ts";
import type { ServiceOutlet } from "./skill-service.ts";

/** How long the other end has to release what it holds before it is ended. */
const closingTime = 5_000;

export type OpenServiceChannel = OpenChannel<ToService, FromService>;

/** One channel from its opening to its end. */
export interface Thread {
  readonly isAlive: () => boolean;
  readonly post: (message: ToService) => void;
  /** The answer to a question; undefined where the thread ends first. */
  readonly ask: (message: Extract<ToService, { kind: "ask" }>) => Promise<unknown>;
  readonly outlets: Map<number, ServiceOutlet>;
  readonly close: () => Promise<void>;
}

/** Opens a channel; where there is no room for another thread, it has ended already. */
export function openThread(settings: Settings, openChannel: OpenServiceChannel): Thread {
  const { log, clock } = settings;
  const outlets = new Map<number, ServiceOutlet>();
  const asked = new Map<number, (value: unknown) => void>();
  let isAlive = true;
  let isClosing = false;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  function receive(message: FromService): void {
    switch (message.kind) {
      case "answer":
        asked.get(message.call)?.(message.value);
        asked.delete(message.call);
        if (asked.size === 0 && !isClosing) channel.letGo();
        break;
      case "line": {
        const written = (): void => {
          if (isAlive) channel.post(...giveBack(message));
        };
        const outlet = outlets.get(message.connection);
        if (outlet === undefined) written();
        else outlet.send(message.bytes, written);
        break;
      }
      case "answered":
        outlets.get(message.connection)?.answered(message.id);
        break;
      case "lesson":
        outlets.get(message.connection)?.lesson(message.key, message.lesson);
        break;
      case "log":
        log(message.level, message.message);
        break;
    }
  }

  function hasEnded(reason: string): void {
    if (!isAlive) return;
    isAlive = false;
    if (!isClosing) log("error", `Skills and tools have ended in the open sessions; chat goes on. ${reason}`);
    for (const answer of asked.values()) answer(undefined);
    asked.clear();
    for (const outlet of outlets.values()) outlet.ended();
    outlets.clear();
    end();
  }

  const channel = openOrEnd(openChannel, receive, hasEnded);

  /** In this process a message may hold what cannot cross; what no wire could carry either is left out. */
  function post(message: ToService): void {
    try {
      channel.post(message);
    } catch {
      channel.post(JSON.parse(JSON.stringify(message)) as ToService);
    }
  }

  return {
    isAlive: () => isAlive,
    outlets,
    post(message) {
      if (isAlive) post(message);
    },
    ask: async (message) =>
      await new Promise((resolve) => {
        if (!isAlive || message.call === undefined) {
          resolve(undefined);
          return;
        }
        post(message);
        asked.set(message.call, resolve);
        // Who waits for an answer must not find the process ended.
        channel.hold();
      }),
    async close() {
      isClosing = true;
      await closeChannel(channel, { kind: "close" }, { ended, clock, ms: closingTime });
    },
  };
}

/** Where there is no room for another thread, it has ended before it began. */
function openOrEnd(
  openChannel: OpenServiceChannel,
  received: (message: FromService) => void,
  ended: (reason: string) => void,
): ReturnType<OpenServiceChannel> {
  try {
    return openChannel(received, ended);
  } catch (error) {
    ended(`No thread could be started: ${error instanceof Error ? error.message : String(error)}`);
    const nothing = (): void => undefined;
    return { post: nothing, hold: nothing, letGo: nothing, end: nothing };
  }
}

/** Shorter lines are not worth it. */
const longLine = 64 * 1024;

/**
 * That a line was written. The memory of a long one goes back to the other end, whose garbage is collected often; here, where
 * hardly anything is allocated, dozens of lists would pile up before it is.
 */
function giveBack({ line, bytes }: Extract<FromService, { kind: "line" }>): [ToService, ArrayBuffer[]?] {
  const { buffer } = bytes;
  if (bytes.length < longLine || !(buffer instanceof ArrayBuffer)) return [{ kind: "written", line }];
  return [{ kind: "written", line, spent: bytes }, [buffer]];
}
