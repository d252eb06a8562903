import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests of the linter's rules run with the static checks (`npm run lint`), not with the suite. */
const staticChecks = ["test/lint.test.ts"];
/** Attacks on the sandboxes use all the CPU and memory they can get: they run last, when nothing else is timed. */
const sandboxes = [
  "test/sandbox/**/*.contract.test.ts",
  "test/sandbox/attacks.test.ts",
  "test/sandbox/pyodide/pyodide-escapes.test.ts",
];
/** A browser takes both processors and has deadlines of its own: one file at a time, and nothing beside it. */
const browser = ["test/browser/**/*.test.ts"];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL("..", import.meta.url)),
    globalSetup: ["test/data-home.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      { extends: true, test: { name: "static", include: staticChecks } },
      {
        extends: true,
        test: {
          name: "house",
          include: ["test/**/*.test.ts"],
          exclude: [...staticChecks, ...sandboxes, ...browser, "test/agents/**", "**/node_modules/**", "**/dist/**"],
          // Much of the time is spent waiting for processes.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "browser",
          include: browser,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: "sandboxes", include: sandboxes, testTimeout: 60_000, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
