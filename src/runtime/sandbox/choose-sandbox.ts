import { systemClock } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { missingOwnFiles } from "./directory/own-files.ts";
import type { TierOptions } from "./drive/sandbox-life.ts";
import { openBubblewrapTier, openLandlockTier } from "./processes/process-tiers.ts";
import { openPyodideTier } from "./pyodide/pyodide-tier.ts";
import type { Explanation, Sandbox, Tier } from "../sandbox.ts";
import { openSeatbeltTier } from "./seatbelt/seatbelt-tier.ts";

export { findCgroups } from "./processes/cgroups.ts";

/** The options of a sandbox. By default, two prepared sandboxes remain ready for one minute after the last run. */
export interface SandboxOptions extends Partial<TierOptions> {
  /** `auto`: the best available tier. A tier's name: that tier or none. */
  readonly isolation?: "auto" | Exclude<Tier, "memory" | "none">;
  /** Whether to test the tiers after the first available one, too: for reports. */
  readonly everyTier?: boolean;
}

/** The availability of one tier. */
export interface TierReport {
  readonly tier: Tier;
  readonly usable: boolean;
  /** The abilities that it does not support. */
  readonly lacks?: readonly string[];
  /** Why the tier is not available. */
  readonly reason?: string;
  /** Commands that fix it. */
  readonly fix?: readonly string[];
}

type OpenTier = (options: TierOptions) => Promise<Sandbox | Explanation>;

/** The tiers of each platform, best first. No tier supports a run that a better one refuses. */
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
 * Opens the first available tier. Each tier first runs a self-test inside itself; a tier that fails it is not used. If no tier is
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
    const found = await openOne(tier, options).catch((error: unknown) => {
      return { reason: error instanceof Error ? error.message : String(error), fix: [] };
    });
    if ("run" in found) {
      tiers.push({ tier, usable: true, lacks: Object.keys(found.lacks) });
      if (sandbox === undefined) sandbox = found;
      else await found.close();
    } else {
      tiers.push({ tier, usable: false, ...found });
      log("info", `The sandbox tier ${tier} is not available: ${found.reason}`);
    }
  }
  if (sandbox === undefined) return { tiers };
  // Only the first tier supports more than the next one.
  const { reason, fix = [] } = tiers[0] ?? {};
  const lacks = Object.keys(sandbox.lacks);
  if (reason === undefined || process.platform !== "linux" || lacks.length === 0) return { sandbox, tiers };
  const how = fix.length === 0 ? "" : ` Fix, then start acp-skills again: ${fix.join("; ")}`;
  return { sandbox: { ...sandbox, remedy: `${wanted[0]} would add ${lacks.join(", ")}. ${reason}${how}` }, tiers };
}

async function openOne(tier: Tier, options: SandboxOptions): Promise<Sandbox | Explanation> {
  const open = openers[tier];
  if (open === undefined) return { reason: `Unknown sandbox tier: ${tier}.`, fix: [] };
  return await open({ pool: { size: 2, idleMs: 60_000 }, clock: systemClock, log: silentLog, ...options });
}
