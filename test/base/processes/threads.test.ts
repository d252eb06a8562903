import { expect, onTestFinished, test } from "vitest";
import { chooseChannel, workerChannel } from "../../../src/base/processes/threads.ts";

test("runs on the calling thread where the worker file is missing, as in a bundle and in the sources", async () => {
  const open = chooseChannel<string>({
    module: "acp/service/worker.js",
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

test("a thread keeps a fraction of the memory for new objects that it would have by default", async () => {
  const code =
    'import { parentPort, resourceLimits } from "node:worker_threads"; parentPort.postMessage(resourceLimits);';
  const open = workerChannel<unknown>(new URL(`data:text/javascript,${encodeURIComponent(code)}`), undefined);
  const limits = await new Promise((resolve, reject) => {
    open(resolve, reject).port.ref();
  });
  expect(limits).toMatchObject({ maxYoungGenerationSizeMb: 12 });
});
