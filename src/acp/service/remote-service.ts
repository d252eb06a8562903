import type { Settings } from "../../options.ts";
import { openThread, type OpenServiceChannel, type Thread } from "./remote-thread.ts";
import type { ServiceConnection, ServiceOutlet, SkillService } from "./skill-service.ts";

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
