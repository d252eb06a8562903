import { MessageChannel } from "node:worker_threads";
import type { OpenChannel } from "./remote-service.ts";
import type { FromService } from "./service-messages.ts";

/** A channel to a service on this very thread, for where there is no file to start another with. It is loaded when it is asked. */
export const sameThreadChannel: OpenChannel = (settings, received, ended) => {
  const { port1: ours, port2: theirs } = new MessageChannel();
  ours.on("message", (message: FromService) => {
    received(message);
  });
  ours.on("close", () => {
    ended("Their channel was closed.");
  });
  ours.unref();
  import("./serve-port.ts").then(
    ({ servePort }) => {
      servePort(theirs, settings);
      theirs.unref();
    },
    (error: unknown) => {
      ended(error instanceof Error ? error.message : String(error));
    },
  );
  return {
    post(message) {
      ours.postMessage(message);
    },
    hold() {
      ours.ref();
    },
    end() {
      ours.close();
    },
  };
};
