import type { Tier } from "../../../src/runtime/sandbox.ts";

const variable = "ACP_SKILLS_REQUIRED_TIERS";
const known: readonly Tier[] = ["bubblewrap", "landlock", "pyodide", "seatbelt"];

/**
 * Why skipping this tier's contract is a failure, or `undefined` if it may be skipped. `ACP_SKILLS_REQUIRED_TIERS` is a comma-separated
 * list of the tiers that this machine must have; an unknown tier in it is an error.
 */
export function missingTier(tier: string, reason: string, required = process.env[variable] ?? ""): string | undefined {
  const names = required.split(",").filter((name) => name !== "");
  const unknown = names.filter((name) => !known.some((one) => one === name));
  if (unknown.length > 0) throw new Error(`${variable} names unknown tiers: ${unknown.join(", ")}`);
  return names.includes(tier) ? `${variable} requires the tier ${tier}, which is not available: ${reason}` : undefined;
}
