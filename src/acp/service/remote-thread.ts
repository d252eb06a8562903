import { createDeferred } from "../../base/deferred.ts";
import type { Settings } from "../../options.ts";
import { closeChannel, type OpenChannel } from "../../base/threads/channel.ts";
import type { FromService, ToService } from "./service-messages.ts";
import type { ServiceOutlet } from "./skill-service.ts";

/** How long the thread has to close before it is terminated. */
const closingTime = 5_000;

export type OpenServiceChannel = OpenChannel<ToService, FromService>;

/** One channel from its opening to its end. */
export interface Thread {
  readonly isAlive: () => boolean;
  readonly post: (message: ToService) => void;
  /** The answer; undefined if the thread ends first. */
  readonly ask: (message: Extract<ToService, { kind: "ask" }>) => Promise<unknown>;
  readonly outlets: Map<number, ServiceOutlet>;
  readonly close: () => Promise<void>;
}

/** Opens a channel. If no thread can be started, it has ended already. */
export function openThread(settings: Settings, openChannel: OpenServiceChannel): Thread {
  const { log, clock } = settings;
  const outlets = new Map<number, ServiceOutlet>();
  const asked = new Map<number, (value: unknown) => void>();
  let isAlive = true;
  let isClosing = false;
  const { promise: ended, resolve: end } = createDeferred();

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
    if (!isClosing)
      log("error", `Skills and tools stopped in the open sessions; messages are still forwarded. ${reason}`);
    for (const answer of asked.values()) answer(undefined);
    asked.clear();
    for (const outlet of outlets.values()) outlet.ended();
    outlets.clear();
    end();
  }

  const channel = openOrEnd(openChannel, receive, hasEnded);

  /** In-process messages may contain values that cannot be cloned; values that are not JSON are dropped. */
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
        // The process must not exit while an answer is awaited.
        channel.hold();
      }),
    async close() {
      isClosing = true;
      await closeChannel(channel, { kind: "close" }, { ended, clock, ms: closingTime });
    },
  };
}

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

/** The memory of shorter lines is not returned. */
const longLine = 64 * 1024;

/**
 * Reports that a line was written. The memory of a long line is transferred back to the service's thread, whose garbage is collected
 * often; on this thread dozens of lists would pile up.
 */
function giveBack({ line, bytes }: Extract<FromService, { kind: "line" }>): [ToService, ArrayBuffer[]?] {
  const { buffer } = bytes;
  if (bytes.length < longLine || !(buffer instanceof ArrayBuffer)) return [{ kind: "written", line }];
  return [{ kind: "written", line, spent: bytes }, [buffer]];
}
