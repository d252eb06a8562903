import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { OpenChannel } from "./channel.ts";

/** A channel to something on this very thread, for where no file is there to start another with. */
export function sameThreadChannel<To, From>(serve: (port: MessagePort) => Promise<void>): OpenChannel<To, From> {
  return (received, ended) => {
    const { port1: ours, port2: theirs } = new MessageChannel();
    ours.on("message", (message: From) => {
      received(message);
    });
    ours.on("close", () => {
      ended("Its channel was closed.");
    });
    ours.unref();
    serve(theirs).then(
      () => {
        theirs.unref();
      },
      (error: unknown) => {
        ended(error instanceof Error ? error.message : String(error));
      },
    );
    return {
      post(message, transferred = []) {
        ours.postMessage(message, transferred);
      },
      hold() {
        ours.ref();
      },
      letGo() {
        ours.unref();
      },
      end() {
        ours.close();
      },
    };
  };
}
