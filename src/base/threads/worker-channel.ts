import { Worker } from "node:worker_threads";
import type { OpenChannel } from "./channel.ts";

/** Opens a channel to a new worker thread with this entry file and this `workerData`. */
export function workerChannel<To, From>(entry: URL, workerData: unknown): OpenChannel<To, From> {
  return (received, ended) => {
    // What it prints by mistake must not reach our stdout, which belongs to the protocol.
    const worker = new Worker(entry, { workerData, stdout: true, name: "acp-skills" });
    worker.on("message", (message: From) => {
      received(message);
    });
    worker.on("error", (error: unknown) => {
      ended(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
    worker.on("exit", (code) => {
      ended(`Its thread ended with code ${code}.`);
    });
    worker.unref();
    return {
      post(message, transferred = []) {
        worker.postMessage(message, transferred);
      },
      hold() {
        worker.ref();
      },
      letGo() {
        worker.unref();
      },
      end() {
        void worker.terminate();
      },
    };
  };
}
