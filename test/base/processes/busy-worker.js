import { parentPort } from "node:worker_threads";

// Never answers: it blocks on its first message.
parentPort?.on("message", () => {
  for (;;);
});
