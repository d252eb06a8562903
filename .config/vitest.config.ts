import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Attacks on the sandboxes take all they can get of the machine: they come last, when nothing else is timed. */
const sandboxes = ["test/sandbox/**/*.test.ts"];

export default defineConfig({
  test: {
    root: fileURLToPath(new URL("..", import.meta.url)),
    globalSetup: ["test/data-home.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      {
        extends: true,
        test: {
          name: "house",
          include: ["test/**/*.test.ts"],
          exclude: [...sandboxes, "test/agents/**", "**/node_modules/**", "**/dist/**"],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: "sandboxes", include: sandboxes, testTimeout: 60_000, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
