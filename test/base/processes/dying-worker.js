import { parentPort } from "node:worker_threads";

// Throws on its first `ask` message.
parentPort?.on("message", (/** @type {{ kind: string }} */ message) => {
  if (message.kind === "ask") throw new Error("a fault in the thread");
});
