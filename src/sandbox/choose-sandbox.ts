import type { Clock } from "../clock.ts";
import { systemClock } from "../clock.ts";
import { SkillsError } from "../errors.ts";
import { silentLog } from "../log.ts";
import type { Log } from "../log.ts";
import type { Explanation } from "./explain-bubblewrap.ts";
import type { Egress } from "./process-sandbox.ts";
import { openBubblewrapTier, openLandlockTier } from "./process-tiers.ts";
import type { ProcessTierOptions } from "./process-tiers.ts";
import { openPyodideTier } from "./pyodide-tier.ts";
import type { PyodideTierOptions } from "./pyodide-tier.ts";
import type { Sandbox, SandboxRun, Tier } from "./sandbox.ts";
import { openSeatbeltTier } from "./seatbelt-tier.ts";

export interface SandboxOptions {
  /** `auto`: the best that this machine has. A tier by name: that one or none. */
  readonly isolation?: "auto" | Exclude<Tier, "memory">;
  /** The Python interpreter to use; by default one is looked for. */
  readonly python?: string;
  readonly temporaryDirectory?: string;
  /** Directories whose `node_modules` may hold the optional peers, beside our own: what is found there is executed. */
  readonly peersFrom?: readonly string[];
  /** Where what is costly to make is kept from one process to the next. */
  readonly cacheDirectory?: string;
  /** Sandboxes that wait, so that a run begins at once; by default two, for a minute after the last run. */
  readonly pool?: { readonly size: number; readonly idleMs: number };
  readonly egress?: Egress;
  /** Look at every tier, also at those that a better one makes needless: for reports. */
  readonly everyTier?: boolean;
  readonly clock?: Clock;
  readonly log?: Log;
}

/** What was found out about one tier. */
export interface TierReport {
  readonly tier: Tier;
  readonly usable: boolean;
  /** Why not. */
  readonly reason?: string;
  /** What a person can do about it: commands. */
  readonly fix?: readonly string[];
}

type OpenTier = (options: ProcessTierOptions & PyodideTierOptions) => Promise<Sandbox | Explanation>;

/** Best first. Each holds hostile code; the later ones offer less. */
const tiersOf: Partial<Record<NodeJS.Platform, readonly Tier[]>> = {
  linux: ["bubblewrap", "landlock", "pyodide"],
  darwin: ["seatbelt", "pyodide"],
  win32: ["pyodide"],
};
/** These offer everything: nothing falls to a later one. */
const whole: readonly Tier[] = ["bubblewrap"];
const openers: Partial<Record<Tier, OpenTier>> = {
  bubblewrap: openBubblewrapTier,
  landlock: openLandlockTier,
  seatbelt: openSeatbeltTier,
  pyodide: openPyodideTier,
};

/**
 * Opens what this machine has to isolate runs: each tier is tried from inside before it is used, and one that leaks is not.
 * Without any, `sandbox` is absent: nothing is ever run unconfined. Never throws because of a tier.
 */
export async function openSandbox(
  options: SandboxOptions = {},
): Promise<{ readonly sandbox?: Sandbox; readonly tiers: readonly TierReport[] }> {
  const { isolation = "auto", everyTier = false, log = silentLog } = options;
  const wanted = isolation === "auto" ? (tiersOf[process.platform] ?? []) : [isolation];
  const tiers: TierReport[] = [];
  const opened: Sandbox[] = [];
  for (const tier of wanted) {
    const found = await openOne(tier, options);
    if (!("run" in found)) {
      tiers.push({ tier, usable: false, ...found });
      log("info", `The tier ${tier} cannot be used: ${found.reason}`);
      continue;
    }
    tiers.push({ tier, usable: true });
    const isNeeded = !opened.some((better) => whole.includes(better.tier));
    if (isNeeded) opened.push(found);
    else await found.close();
    if (whole.includes(tier) && !everyTier) break;
  }
  const [best] = opened;
  return best === undefined ? { tiers } : { sandbox: opened.length === 1 ? best : composeSandboxes(opened), tiers };
}

async function openOne(tier: Tier, options: SandboxOptions): Promise<Sandbox | Explanation> {
  const open = openers[tier];
  if (open === undefined) return { reason: `This package cannot open the tier ${tier}.`, fix: [] };
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

/**
 * One sandbox out of several, best first: a run goes to the first that does not refuse it, and is refused with the reasons of all.
 * A run that failed is never tried again elsewhere.
 */
export function composeSandboxes(sandboxes: readonly Sandbox[]): Sandbox {
  const [best] = sandboxes;
  if (best === undefined) throw new TypeError("There is nothing to compose.");
  const find = (run: SandboxRun): Sandbox | undefined =>
    sandboxes.find((sandbox) => sandbox.refuses(run) === undefined);
  const refuses = (run: SandboxRun): string | undefined =>
    find(run) === undefined ? sandboxes.map((sandbox) => sandbox.refuses(run)).join(" ") : undefined;
  return {
    tier: best.tier,
    refuses,
    async run(run, host, signal) {
      const sandbox = find(run);
      if (sandbox === undefined)
        throw new SkillsError("SANDBOX_UNAVAILABLE", refuses(run) ?? "No sandbox takes this run.");
      return sandbox.run(run, host, signal);
    },
    async close() {
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
    },
  };
}
