import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { findDenoParts } from "./find-deno.ts";
import { whereSandboxesReach } from "../directory/host-directory.ts";
import { installRemedy } from "../find/install-remedy.ts";
import { openPyodideSandbox } from "./pyodide-sandbox.ts";
import type { Explanation, Sandbox } from "../sandbox.ts";
import { probeSandbox } from "../find/self-probe.ts";
import { sweepLeftovers } from "../directory/sweep-leftovers.ts";

export interface PyodideTierOptions {
  /** Directories whose `node_modules` are trusted beside our own: what is found there is executed. */
  readonly peersFrom?: readonly string[] | undefined;
  readonly cacheDirectory?: string | undefined;
  readonly temporaryDirectory?: string | undefined;
  readonly pool: { readonly size: number; readonly idleMs: number };
  readonly clock: Clock;
  readonly log: Log;
}

/** Waiting children are large here. */
const mostWaiting = 1;

/** Opens the portable tier, tried from inside; else why it cannot be used. */
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
  const fault = await probeSandbox(sandbox, temporaryDirectory);
  if (fault === undefined) return sandbox;
  await sandbox.close();
  return { reason: fault, fix: [] };
}
