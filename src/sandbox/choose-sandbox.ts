import type { Clock } from "../base/clock.ts";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import type { Log } from "../base/log.ts";
import type { Egress } from "./processes/process-sandbox.ts";
import { openBubblewrapTier, openLandlockTier } from "./processes/process-tiers.ts";
import type { ProcessTierOptions } from "./processes/process-tiers.ts";
import { missingOwnFiles } from "./directory/own-files.ts";
import { openPyodideTier } from "./pyodide/pyodide-tier.ts";
import type { PyodideTierOptions } from "./pyodide/pyodide-tier.ts";
import type { Explanation, Sandbox, Tier } from "./sandbox.ts";
import { openSeatbeltTier } from "./seatbelt/seatbelt-tier.ts";

export interface SandboxOptions {
  /** `auto`: the best available tier. A tier by name: that one or none. */
  readonly isolation?: "auto" | Exclude<Tier, "memory">;
  /** The Python interpreter to use; by default, the first suitable one on this machine. */
  readonly python?: string;
  readonly temporaryDirectory?: string;
  /** Directories whose `node_modules` are searched for the optional peers too. Must be trusted: what is found is executed. */
  readonly peersFrom?: readonly string[];
  /** For files that are reused by later processes. */
  readonly cacheDirectory?: string;
  /** Prepared sandboxes, which make runs start faster; by default two, for one minute after the last run. */
  readonly pool?: { readonly size: number; readonly idleMs: number };
  readonly egress?: Egress;
  /** Also test the tiers after the first available one: for reports. */
  readonly everyTier?: boolean;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** Whether one tier is available. */
export interface TierReport {
  readonly tier: Tier;
  readonly usable: boolean;
  /** Why not. */
  readonly reason?: string;
  /** Commands that fix it. */
  readonly fix?: readonly string[];
}

type OpenTier = (options: ProcessTierOptions & PyodideTierOptions) => Promise<Sandbox | Explanation>;

/** Best first. No tier supports a run that a better one refuses. */
const tiersOf: Partial<Record<NodeJS.Platform, readonly Tier[]>> = {
  linux: ["bubblewrap", "landlock", "pyodide"],
  darwin: ["seatbelt", "pyodide"],
  win32: ["pyodide"],
};
const openers: Partial<Record<Tier, OpenTier>> = {
  bubblewrap: openBubblewrapTier,
  landlock: openLandlockTier,
  seatbelt: openSeatbeltTier,
  pyodide: openPyodideTier,
};

/**
 * Opens the first available tier. Each tier runs a self-test inside itself first; one that fails is not used. Where none is
 * available, `sandbox` is absent: code never runs without isolation. Does not throw because of a tier.
 */
export async function openSandbox(
  options: SandboxOptions = {},
): Promise<{ readonly sandbox?: Sandbox; readonly tiers: readonly TierReport[] }> {
  const { isolation = "auto", everyTier = false, log = silentLog } = options;
  const wanted = isolation === "auto" ? (tiersOf[process.platform] ?? []) : [isolation];
  const missing = missingOwnFiles();
  if (missing !== undefined) return { tiers: wanted.map((tier) => ({ tier, usable: false, reason: missing })) };
  const tiers: TierReport[] = [];
  let sandbox: Sandbox | undefined;
  for (const tier of wanted) {
    if (sandbox !== undefined && !everyTier) break;
    const found = await openOne(tier, options);
    if ("run" in found) {
      tiers.push({ tier, usable: true });
      if (sandbox === undefined) sandbox = found;
      else await found.close();
    } else {
      tiers.push({ tier, usable: false, ...found });
      log("info", `The sandbox tier ${tier} is not available: ${found.reason}`);
    }
  }
  return sandbox === undefined ? { tiers } : { sandbox, tiers };
}

async function openOne(tier: Tier, options: SandboxOptions): Promise<Sandbox | Explanation> {
  const open = openers[tier];
  if (open === undefined) return { reason: `Unknown sandbox tier: ${tier}.`, fix: [] };
  const {
    python,
    temporaryDirectory,
    peersFrom,
    cacheDirectory,
    egress,
    clock = systemClock,
    log = silentLog,
  } = options;
  const { pool = { size: 2, idleMs: 60_000 } } = options;
  try {
    return await open({ python, temporaryDirectory, peersFrom, cacheDirectory, egress, clock, log, pool });
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error), fix: [] };
  }
}
