import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { findDenoParts } from "./find-deno.ts";
import { whereSandboxesReach, sweepLeftovers } from "../directory/host-directory.ts";
import { installRemedy } from "../find/install-remedy.ts";
import { openPyodideSandbox } from "./pyodide-sandbox.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";
import { testSandbox } from "../find/self-probe.ts";

export interface PyodideTierOptions {
  /** Directories whose `node_modules` are searched too. Must be trusted: what is found is executed. */
  readonly peersFrom?: readonly string[] | undefined;
  readonly cacheDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  readonly pool: { readonly size: number; readonly idleMs: number };
  readonly clock: Clock;
  readonly log: Log;
}

/** Prepared children use much memory. */
const mostWaiting = 1;

/** Opens the pyodide tier if it passes its self-test, or returns why it is not available. */
export async function openPyodideTier(options: PyodideTierOptions): Promise<Sandbox | Explanation> {
  const { peersFrom, cacheDirectory, pool, clock, log } = options;
  const temporaryDirectory = whereSandboxesReach(options.temporaryDirectory);
  const parts = findDenoParts(peersFrom);
  if (typeof parts === "string") return { reason: parts, fix: [installRemedy(["deno", "pyodide"])] };
  await sweepLeftovers(log, temporaryDirectory);
  const sandbox = await openPyodideSandbox({
    parts,
    temporaryDirectory,
    pool: { ...pool, size: Math.min(pool.size, mostWaiting) },
    clock,
    log,
    ...(cacheDirectory === undefined ? {} : { cacheDirectory }),
  });
  return testSandbox(sandbox, temporaryDirectory);
}
