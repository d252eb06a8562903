import { Worker } from "node:worker_threads";
import type { OpenChannel } from "./remote-service.ts";
import { type FromService, toWorkerSettings } from "./service-messages.ts";

/** A channel to a thread of its own, whose entry is this file. */
export function workerChannel(entry: URL): OpenChannel {
  return (settings, received, ended) => {
    const workerData = toWorkerSettings(settings);
    // What it prints by mistake must not reach our stdout, which belongs to the protocol.
    const worker = new Worker(entry, { workerData, stdout: true, name: "acp-skills" });
    worker.on("message", (message: FromService) => {
      received(message);
    });
    worker.on("error", (error: unknown) => {
      ended(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
    worker.on("exit", (code) => {
      ended(`Their thread ended with code ${code}.`);
    });
    // It keeps nobody's process alive: the connections do, as long as they are wanted.
    worker.unref();
    return {
      post(message) {
        worker.postMessage(message);
      },
      hold() {
        worker.ref();
      },
      end() {
        void worker.terminate();
      },
    };
  };
}
