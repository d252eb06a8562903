import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Tests of the linter's rules and of what is generated from comments run with the static checks (`npm run lint`), not with the suite. */
const staticChecks = ["test/lint.test.ts", "test/api-reference.test.ts"];
/** Attacks on the sandboxes use all the CPU and memory they can get: they run last, when nothing else is timed. */
const sandboxes = [
  "test/runtime/sandbox/**/*.contract.test.ts",
  "test/runtime/sandbox/attacks.test.ts",
  "test/runtime/sandbox/pyodide/pyodide-escapes.test.ts",
];
/** A browser takes both processors and has deadlines of its own: one file at a time, and nothing beside it. */
const browser = ["test/browser/page/**/*.test.ts"];
const others = [...staticChecks, ...sandboxes, ...browser, "test/agents/**", "test/editors/**"];

/** What belongs to a process: a test that changes it has a process of its own. The others share one, which starts and loads modules once. */
const changesProcess =
  /process\.(?:env|chdir|on|off|once|kill)\b|\bvi\.(?:mock|stub|spyOn)|setFlagsFromString|toMatchInlineSnapshot|\/(?:run-cli|temporary-project)\.ts"/;
/** In the gate, each has its own. */
const isGate = process.env["ACP_SKILLS_GATE"] === "1";
const alone = readdirSync(path.join(root, "test"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => path.posix.join("test", ...file.split(path.sep)))
  .filter((file) => isGate || changesProcess.test(readFileSync(path.join(root, file), "utf8")));

/** Much of the time is spent waiting for processes. */
const maxWorkers = Math.max(2, availableParallelism() - 1);

export default defineConfig({
  test: {
    root,
    globalSetup: ["test/data-home.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    projects: [
      { extends: true, test: { name: "static", include: staticChecks } },
      {
        extends: true,
        test: {
          name: "house",
          include: alone,
          exclude: others,
          maxWorkers,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "house, shared",
          include: ["test/**/*.test.ts"],
          exclude: [...others, ...alone],
          isolate: false,
          setupFiles: ["test/imports-settled.ts"],
          maxWorkers,
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
