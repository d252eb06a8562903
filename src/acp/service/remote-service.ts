import type { Settings } from "../../options.ts";
import type { OpenChannel } from "../../threads/channel.ts";
import type { FromService, ToService } from "./service-messages.ts";
import type { ServiceConnection, ServiceOutlet, SkillService } from "./skill-service.ts";

/** How long the other end has to release what it holds before it is ended. */
const closingTime = 5_000;

type OpenServiceChannel = OpenChannel<ToService, FromService>;

/** One channel from its opening to its end. */
interface Thread {
  readonly isAlive: () => boolean;
  readonly post: (message: ToService) => void;
  /** The answer to a question; undefined where the thread ends first. */
  readonly ask: (message: Extract<ToService, { kind: "ask" }>) => Promise<unknown>;
  readonly outlets: Map<number, ServiceOutlet>;
  readonly close: () => Promise<void>;
}

/**
 * The service at the other end of a channel: nothing that it reads or runs can hold up the thread that this is called on. A thread that
 * ends for a fault is told to the log; sessions that it served go on without skills, and the next one gets a new thread.
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

    /** The thread that knows this connection; a new one only where something new begins. */
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

    // So that the thread starts, and loads what it needs, while the agent boots.
    reach(true);
    return {
      open: tell("open", { begins: true }),
      equip: ask("equip"),
      begin: tell("begin"),
      heard: tell("heard"),
      agentListed: ask("agentListed"),
      listPassed: tell("listPassed"),
      invoke: ask("invoke"),
      callTold: tell("callTold"),
      taught: tell("taught"),
      ask: tell("ask", { begins: true }),
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
        log("warning", `Closing the thread of skills failed: ${String(error)}`);
      })),
  };
}

function openThread(settings: Settings, openChannel: OpenServiceChannel): Thread {
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

  const channel = openChannel(receive, (reason) => {
    if (!isAlive) return;
    isAlive = false;
    if (!isClosing) log("error", `Skills and tools have ended in the open sessions; chat goes on. ${reason}`);
    for (const answer of asked.values()) answer(undefined);
    asked.clear();
    for (const outlet of outlets.values()) outlet.ended();
    outlets.clear();
    end();
  });
  return {
    isAlive: () => isAlive,
    outlets,
    post(message) {
      if (isAlive) channel.post(message);
    },
    ask: async (message) =>
      await new Promise((resolve) => {
        if (!isAlive || message.call === undefined) {
          resolve(undefined);
          return;
        }
        asked.set(message.call, resolve);
        channel.post(message);
      }),
    async close() {
      isClosing = true;
      channel.hold();
      channel.post({ kind: "close" });
      const stopTimer = clock.after(closingTime, () => {
        channel.end();
      });
      await ended;
      stopTimer();
    },
  };
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
