import { systemClock } from "../../../../src/base/clock.ts";
import { findDenoFiles } from "../../../../src/runtime/sandbox/pyodide/pyodide-tier.ts";
import { openPyodideSandbox } from "../../../../src/runtime/sandbox/pyodide/pyodide-sandbox.ts";
import type { Sandbox } from "../../../../src/runtime/sandbox.ts";

const further = process.env["ACP_SKILLS_TEST_PEERS"];

/** An additional directory to find deno and pyodide in: `ACP_SKILLS_TEST_PEERS`. */
export const peers: readonly string[] = further === undefined ? [] : [further];

/** Every run starts a WebAssembly engine: all of these tests together take minutes. */
export const isSlowAsked = process.env["ACP_SKILLS_SLOW_TESTS"] !== undefined;

/** Opens the tier if both are installed, and slow tests are wanted. */
export async function openPyodideForTests(cacheDirectory?: string): Promise<Sandbox | { readonly skip: string }> {
  if (!isSlowAsked) return { skip: "slow: set ACP_SKILLS_SLOW_TESTS" };
  const parts = findDenoFiles(peers);
  if (typeof parts === "string") return { skip: parts };
  return openPyodideSandbox({
    files: parts,
    pool: { size: 1, idleMs: 60_000 },
    clock: systemClock,
    log: (level, message) => {
      if (level !== "info") throw new Error(message);
    },
    ...(cacheDirectory === undefined ? {} : { cacheDirectory }),
  });
}
