import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { chooseChannel } from "../../../src/base/processes/threads.ts";

test("does not run a file of another package that has the name of the worker", async () => {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-channel-"));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  const file = path.join(directory, "worker.js");
  writeFileSync(file, "throw new Error('run');");
  const open = chooseChannel<string, string>({
    entry: pathToFileURL(file),
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
    channel.hold();
    channel.post("asked");
    onTestFinished(() => {
      channel.end();
    });
  });
  expect(answer).toBe("asked, on this thread");
});
