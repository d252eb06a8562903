import { chooseChannel, type OpenChannel, ThreadClient, type ThreadReply } from "../base/processes/threads.ts";
import { type Settings, toSettingsData } from "../runtime/options.ts";
import type { FromService, ServiceConnection, ServiceOutlet, SkillService, ToService } from "./skill-service.ts";

type OpenServiceChannel = OpenChannel<FromService | ThreadReply>;

/** Opens the service on its own thread, if one can be started. */
export function openService(settings: Settings): SkillService {
  return openRemoteService(
    settings,
    chooseChannel({
      module: "acp/service/worker.js",
      workerData: toSettingsData(settings),
      serve: async (port) => {
        const { servePort } = await import("./service/serve-port.ts");
        servePort(port, settings);
      },
      log: settings.log,
    }),
  );
}

/**
 * Opens the service at the other end of a channel, so that it never blocks this thread. A failure of its thread is logged. Open sessions
 * then continue without skills, and the next session gets a new thread.
 */
export function openRemoteService(settings: Settings, openChannel: OpenServiceChannel): SkillService {
  let current: ReturnType<typeof openThread> | undefined;
  let lastConnection = 0;
  let isClosed = false;

  function running(): NonNullable<typeof current> {
    if (current?.client.isAlive !== true) current = openThread(settings, openChannel);
    return current;
  }

  function connect(outlet: ServiceOutlet): ServiceConnection {
    const connection = ++lastConnection;
    let thread: typeof current;

    /** Returns the thread that serves this connection. A dead thread is replaced only when a session or call begins. */
    function reach(begins: boolean): typeof current {
      if (thread?.client.isAlive === true || !begins || isClosed) return thread;
      thread = running();
      thread.outlets.set(connection, outlet);
      thread.client.post({ kind: "connect", connection });
      return thread;
    }
    const send =
      <Method extends keyof ServiceConnection>(method: Method, { begins = false } = {}) =>
      (...args: Parameters<ServiceConnection[Method]>): void =>
        reach(begins)?.client.post({ kind: "ask", connection, method, args });
    const ask =
      <Method extends keyof ServiceConnection>(method: Method) =>
      async (
        ...args: Parameters<ServiceConnection[Method]>
      ): Promise<Awaited<ReturnType<ServiceConnection[Method]>>> => {
        const client = reach(false)?.client;
        // The answer is undefined if the thread ends first.
        const answer = await client
          ?.call((call) => ({ kind: "ask", connection, method, args, call }))
          .catch(() => undefined);
        return answer as Awaited<ReturnType<ServiceConnection[Method]>>;
      };

    // The thread starts and loads its modules while the agent starts.
    reach(true);
    return {
      prepare: send("prepare"),
      open: send("open", { begins: true }),
      equip: ask("equip"),
      begin: send("begin"),
      named: send("named"),
      agentListed: ask("agentListed"),
      listPassed: send("listPassed"),
      invoke: ask("invoke"),
      turnBegan: send("turnBegan"),
      answersRun: ask("answersRun"),
      callReported: send("callReported"),
      indexSent: send("indexSent"),
      callTool(request) {
        if (reach(true)?.client.isAlive === true) send("callTool")(request);
        else outlet.ended();
      },
      questionShown: send("questionShown"),
      editorReplied: send("editorReplied"),
      cancelCall: send("cancelCall"),
      cancelTurn: send("cancelTurn"),
      cancelToolCall: send("cancelToolCall"),
      release: send("release"),
      async close() {
        await ask("close")();
        thread?.outlets.delete(connection);
      },
    };
  }

  return {
    connect,
    serveSkills(port, opening) {
      if (isClosed) port.close();
      else running().client.post({ kind: "skills", port, opening }, [port]);
    },
    async close() {
      isClosed = true;
      await current?.client.close();
    },
  };
}

/** Opens a thread of the service, with the map of the connections that it serves. */
function openThread({ log, clock }: Settings, openChannel: OpenServiceChannel) {
  const outlets = new Map<number, ServiceOutlet>();
  const client = new ThreadClient<ToService, FromService>({
    openChannel: droppingFunctions(openChannel),
    received(message) {
      const outlet = outlets.get(message.connection);
      if (message.kind === "outlet") {
        const call = outlet?.[message.method] as ((...args: readonly unknown[]) => void) | undefined;
        call?.(...message.args);
        return;
      }
      const written = (): void => client.post(...giveBack(message));
      if (outlet === undefined) written();
      else outlet.send(message.bytes, written);
    },
    ended(reason) {
      if (reason !== undefined)
        log("error", `Skills and tools stopped in the open sessions; messages are still forwarded. ${reason}`);
      for (const outlet of outlets.values()) outlet.ended();
      outlets.clear();
    },
    log,
    clock,
  });
  return { client, outlets };
}

/** Drops values that are not JSON from a message that cannot be cloned: in-process messages may contain functions. */
function droppingFunctions(openChannel: OpenServiceChannel): OpenServiceChannel {
  return (received, ended) => {
    const channel = openChannel(received, ended);
    const { port } = channel;
    const postMessage = (message: unknown, transferred: Parameters<typeof port.postMessage>[1]): void => {
      try {
        port.postMessage(message, transferred);
      } catch {
        port.postMessage(JSON.parse(JSON.stringify(message)));
      }
    };
    return { port: { postMessage, ref: () => port.ref(), unref: () => port.unref() }, end: () => channel.end() };
  };
}

/** The minimum size of a line whose memory is returned. */
const longLine = 64 * 1024;

/**
 * Makes the message which reports that a line was written. It transfers the memory of a long line back to the service's thread, whose
 * garbage is collected often. On this thread, the memory of dozens of lists would accumulate.
 */
function giveBack({ line, bytes }: Extract<FromService, { kind: "line" }>): [ToService, ArrayBuffer[]?] {
  const { buffer } = bytes;
  if (bytes.length < longLine || !(buffer instanceof ArrayBuffer)) return [{ kind: "written", line }];
  return [{ kind: "written", line, spent: bytes }, [buffer]];
}
