import { parentPort } from "node:worker_threads";

// Answers nothing: it is busy from its first message on.
parentPort?.on("message", () => {
  for (;;);
});
