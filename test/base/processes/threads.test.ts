import { expect, onTestFinished, test } from "vitest";
import { chooseChannel } from "../../../src/base/processes/threads.ts";

test("runs on the calling thread where the worker file is missing, as in a bundle and in the sources", async () => {
  const open = chooseChannel<string>({
    place: "acp/service/worker.js",
    workerData: undefined,
    serve(port) {
      port.on("message", (message: string) => {
        port.postMessage(`${message}, on this thread`);
      });
      return Promise.resolve();
    },
    log: () => undefined,
  });
  const answer = await new Promise((resolve, reject) => {
    const channel = open(resolve, reject);
    channel.port.ref();
    channel.port.postMessage("asked");
    onTestFinished(() => {
      channel.end();
    });
  });
  expect(answer).toBe("asked, on this thread");
});
