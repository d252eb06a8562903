import type { MessagePort } from "node:worker_threads";
import { type PlainError, toPlainError } from "../../base/errors.ts";
import { createOnceLog } from "../../base/log.ts";
import type { ThreadReply } from "../../base/processes/threads.ts";
import type { Settings } from "../../runtime/options.ts";
import type { GivenPorts } from "../../runtime/ports.ts";
import { openGivenPorts } from "../../given-ports.ts";
import { reportFault } from "../messages/amend.ts";
import { EarlyServers } from "./tools/early-servers.ts";
import type { FromService, FromSkills, ServiceConnection, SkillService, ToService } from "../skill-service.ts";

type Methods = Readonly<Record<string, (...given: readonly unknown[]) => unknown>>;
type Ask = Extract<ToService, { kind: "ask" }>;

/** The delay between `initialize` and loading all code, if no session opens. An agent that waits for its tools gets them at once. */
const quietMs = 100;

const openGiven = async (settings: Settings): Promise<GivenPorts> => await openGivenPorts(settings, "wrapper");

/** Refuses a request for the skills of a service that could not be loaded. */
function refuseSkills(message: ToService, error: PlainError | undefined): void {
  if (message.kind !== "skills") return;
  if (error !== undefined) message.port.postMessage({ kind: "failed", error } satisfies FromSkills);
  message.port.close();
}

/**
 * Serves skills and tools to the other end of a port until that end closes. The code that reads skills and runs tools is large. It is
 * loaded when the first session has the address of its MCP server.
 */
export function servePort(port: MessagePort, settings: Settings): void {
  const { log, clock } = settings;
  const once = createOnceLog(log);
  const servers = new EarlyServers(settings);
  let loading: Promise<SkillService | undefined> | undefined;
  let failure: PlainError | undefined;
  /** The messages that arrived before there was a reason to load. */
  const held: ToService[] = [];
  const connections = new Map<number, ServiceConnection>();
  /** The callbacks of lines that are not written yet, by number. */
  const unwritten = new Map<number, () => void>();
  let lastLine = 0;

  /** Loads the service. Undefined if it could not be loaded: this end is then closed. */
  async function load(): Promise<SkillService | undefined> {
    try {
      const [{ openLocalService }, ports] = await Promise.all([import("./local-service.ts"), openGiven(settings)]);
      return openLocalService(settings, { openServers: servers.forTools, ports });
    } catch (error) {
      failure = toPlainError(error);
      log("error", `There are no skills and tools: ${failure.message}`);
      await close();
      return undefined;
    }
  }

  function post(message: FromService | ThreadReply, transferred: ArrayBuffer[] = []): void {
    port.postMessage(message, transferred);
  }

  function connect(service: SkillService, connection: number): ServiceConnection {
    return service.connect({
      send(line, written) {
        const number = ++lastLine;
        unwritten.set(number, written);
        // The line is copied: small buffers share their memory, which can be transferred only once.
        const bytes = new Uint8Array(line);
        post({ kind: "line", connection, line: number, bytes }, [bytes.buffer]);
      },
      request(id, line) {
        const bytes = new Uint8Array(line);
        post({ kind: "outlet", connection, method: "request", args: [id, bytes] }, [bytes.buffer]);
      },
      withdraw: (id) => post({ kind: "outlet", connection, method: "withdraw", args: [id] }),
      answered: (id) => post({ kind: "outlet", connection, method: "answered", args: [id] }),
      index: (key, index) => post({ kind: "outlet", connection, method: "index", args: [key, index] }),
      blob: (...args) => post({ kind: "outlet", connection, method: "blob", args }),
      // The other end notices itself when this end closes.
      ended: () => undefined,
      log,
    });
  }

  /** Calls a method of a connection. An error in one call is logged and ends nothing else. */
  async function ask({ connection, method, args, call }: Ask): Promise<void> {
    let value: unknown;
    try {
      const served = connections.get(connection) as Methods | undefined;
      const given = served?.[method]?.(...args);
      value = given instanceof Promise ? await given : given;
    } catch (error) {
      reportFault(once, error);
    }
    if (call !== undefined) post({ kind: "answer", call, value });
    if (method === "close") connections.delete(connection);
  }

  /** Answers with a server's address first, for which the agent waits. Requests to the server wait until the session is served. */
  async function equip({ call, ...message }: Ask): Promise<void> {
    const [key, request] = message.args as Parameters<ServiceConnection["equip"]>;
    const early = await servers.open(request);
    if (early === undefined || call === undefined) {
      await take({ ...message, ...(call !== undefined && { call }) });
      return;
    }
    post({ kind: "answer", call, value: early.entry });
    await take({ ...message, args: [key, { ...request, reserve: early.reserve }] });
    early.drop();
  }

  /** Processes a message, after those that were held. */
  function take(message: ToService): Promise<void> {
    loading ??= load();
    for (const before of held.splice(0)) void process(before, loading);
    return process(message, loading);
  }

  async function process(message: ToService, loaded: Promise<SkillService | undefined>): Promise<void> {
    const service = await loaded;
    if (service === undefined) refuseSkills(message, failure);
    if (service === undefined) return;
    switch (message.kind) {
      case "connect":
        connections.set(message.connection, connect(service, message.connection));
        break;
      case "ask":
        await ask(message);
        break;
      case "written":
        unwritten.get(message.line)?.();
        unwritten.delete(message.line);
        break;
      case "skills":
        service.serveSkills(message.port, message.opening);
        break;
      case "close":
        await service.close();
        await close();
    }
  }

  async function close(): Promise<void> {
    await servers.close();
    port.close();
  }

  port.on("message", (message: ToService) => {
    if (message.kind === "ask" && message.method === "equip") void equip(message);
    else if (loading !== undefined) void take(message);
    else if (message.kind === "connect" || (message.kind === "ask" && message.method === "open")) held.push(message);
    else if (message.kind === "close") void close();
    else if (message.kind === "written") return;
    else if (message.kind === "skills") void take(message);
    else if (message.method === "prepare") clock.after(quietMs, () => void (loading ?? take(message)));
    else if (message.method === "close") void ask(message);
    else void take(message);
  });
}
