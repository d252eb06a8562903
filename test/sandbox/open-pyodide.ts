import { systemClock } from "../../src/clock.ts";
import { findDenoParts } from "../../src/sandbox/find-deno.ts";
import { openPyodideSandbox } from "../../src/sandbox/pyodide-sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";

/** Opens the tier where deno and pyodide are installed; `ACP_SKILLS_TEST_PEERS` names a further directory of packages. */
export async function openPyodideForTests(cacheDirectory?: string): Promise<Sandbox | { readonly skip: string }> {
  const further = process.env["ACP_SKILLS_TEST_PEERS"];
  const parts = findDenoParts(further === undefined ? [] : [further]);
  if (typeof parts === "string") return { skip: parts };
  return openPyodideSandbox({
    parts,
    pool: { size: Number(process.env["ACP_POOL"] ?? 1), idleMs: 60_000 },
    clock: systemClock,
    log: (level, message) => {
      if (level !== "info") throw new Error(message);
    },
    ...(cacheDirectory === undefined ? {} : { cacheDirectory }),
  });
}
