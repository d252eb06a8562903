import { parentPort } from "node:worker_threads";

// Dies of its first question.
parentPort?.on("message", (/** @type {{ kind: string }} */ message) => {
  if (message.kind === "ask") throw new Error("a fault in the thread");
});
