import type { MessagePort } from "node:worker_threads";
import { openToldOnce } from "../../base/log.ts";
import type { ThreadReply } from "../../base/processes/threads.ts";
import type { Settings } from "../../options.ts";
import { reportFault } from "../bytes/amend.ts";
import { openLocalService } from "./local-service.ts";
import type { FromService, ServiceConnection, ToService } from "./skill-service.ts";

/** Serves skills and tools to the other end of a port until that end closes. */
export function servePort(port: MessagePort, settings: Settings): void {
  const { log } = settings;
  const once = openToldOnce(log);
  const service = openLocalService(settings);
  const connections = new Map<number, ServiceConnection>();
  /** Callbacks for lines that are not written yet. */
  const unwritten = new Map<number, () => void>();
  let lastLine = 0;

  function post(message: FromService | ThreadReply, transferred: ArrayBuffer[] = []): void {
    port.postMessage(message, transferred);
  }

  function connect(connection: number): ServiceConnection {
    return service.connect({
      send(line, written) {
        const number = ++lastLine;
        unwritten.set(number, written);
        // A copy: small buffers share their memory, which can be transferred only once.
        const bytes = new Uint8Array(line);
        post({ kind: "line", connection, line: number, bytes }, [bytes.buffer]);
      },
      request(id, line) {
        const bytes = new Uint8Array(line);
        post({ kind: "request", connection, id, bytes }, [bytes.buffer]);
      },
      withdraw(id) {
        post({ kind: "withdraw", connection, id });
      },
      answered(id) {
        post({ kind: "answered", connection, id });
      },
      index(key, index) {
        post({ kind: "index", connection, key, index });
      },
      // The other end notices when this one ends.
      ended: () => undefined,
      log,
    });
  }

  /** An error in one call is logged and ends nothing else. */
  async function ask({ connection, method, args, call }: Extract<ToService, { kind: "ask" }>): Promise<void> {
    let value: unknown;
    try {
      const served = connections.get(connection) as
        Record<string, (...given: readonly unknown[]) => unknown> | undefined;
      const given = served?.[method]?.(...args);
      value = given instanceof Promise ? await given : given;
    } catch (error) {
      reportFault(once, error);
    }
    if (call !== undefined) post({ kind: "answer", call, value });
    if (method === "close") connections.delete(connection);
  }

  port.on("message", (message: ToService) => {
    switch (message.kind) {
      case "connect":
        connections.set(message.connection, connect(message.connection));
        break;
      case "ask":
        void ask(message);
        break;
      case "written":
        unwritten.get(message.line)?.();
        unwritten.delete(message.line);
        break;
      case "close":
        void service.close().then(() => {
          port.close();
        });
        break;
    }
  });
}
