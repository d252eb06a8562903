import { createDeferred } from "../../base/deferred.ts";
import { chooseChannel, closeChannel, type OpenChannel } from "../../base/threads.ts";
import { urlOf } from "../../base/url-of.ts";
import { type Settings, toSettingsData } from "../../options.ts";
import type { FromService, ServiceConnection, ServiceOutlet, SkillService, ToService } from "./skill-service.ts";

/** Opens the service on its own thread, if one can be started. */
export function openService(settings: Settings): SkillService {
  return openRemoteService(
    settings,
    chooseChannel({
      entry: new URL("./worker.js", urlOf(import.meta)),
      place: "acp/service/worker.js",
      workerData: toSettingsData(settings),
      serve: async (port) => {
        const { servePort } = await import("./serve-port.ts");
        servePort(port, settings);
      },
      log: settings.log,
    }),
  );
}

/**
 * The service at the other end of a channel, so that it never blocks this thread. If its thread fails, that is logged; open sessions go
 * on without skills, and the next session gets a new thread.
 */
export function openRemoteService(settings: Settings, openChannel: OpenServiceChannel): SkillService {
  const { log } = settings;
  let thread: Thread | undefined;
  let lastConnection = 0;
  let lastCall = 0;
  let closing: Promise<void> | undefined;

  function living(): Thread {
    thread = thread?.isAlive() === true ? thread : openThread(settings, openChannel);
    return thread;
  }

  function connect(outlet: ServiceOutlet): ServiceConnection {
    const connection = ++lastConnection;
    let known: Thread | undefined;

    /** The thread that serves this connection; replaced only when a new session or call begins. */
    function reach(begins: boolean): Thread | undefined {
      if (known?.isAlive() === true || !begins || closing !== undefined) return known;
      known = living();
      known.outlets.set(connection, outlet);
      known.post({ kind: "connect", connection });
      return known;
    }
    const tell =
      <Method extends keyof ServiceConnection>(method: Method, { begins = false } = {}) =>
      (...args: Parameters<ServiceConnection[Method]>): void =>
        reach(begins)?.post({ kind: "ask", connection, method, args });
    const ask =
      <Method extends keyof ServiceConnection>(method: Method) =>
      (...args: Parameters<ServiceConnection[Method]>): Promise<Awaited<ReturnType<ServiceConnection[Method]>>> => {
        type Answer = Awaited<ReturnType<ServiceConnection[Method]>>;
        const asked = reach(false)?.ask({ kind: "ask", connection, method, args, call: ++lastCall });
        return (asked as Promise<Answer> | undefined) ?? Promise.resolve(undefined as Answer);
      };

    // The thread starts and loads its modules while the agent starts.
    reach(true);
    return {
      prepare: tell("prepare"),
      open: tell("open", { begins: true }),
      equip: ask("equip"),
      begin: tell("begin"),
      heard: tell("heard"),
      agentListed: ask("agentListed"),
      listPassed: tell("listPassed"),
      invoke: ask("invoke"),
      callTold: tell("callTold"),
      taught: tell("taught"),
      ask(request) {
        const thread = reach(true);
        if (thread?.isAlive() === true) thread.post({ kind: "ask", connection, method: "ask", args: [request] });
        else outlet.ended();
      },
      giveUp: tell("giveUp"),
      cancelTurn: tell("cancelTurn"),
      release: tell("release"),
      async close() {
        await ask("close")();
        known?.outlets.delete(connection);
      },
    };
  }

  async function close(): Promise<void> {
    if (thread?.isAlive() === true) await thread.close();
  }

  return {
    connect,
    close: () =>
      (closing ??= close().catch((error: unknown) => {
        log("warning", `Closing the service's thread failed: ${String(error)}`);
      })),
  };
}

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
