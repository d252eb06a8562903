import { systemClock } from "../../../../src/base/clock.ts";
import { openSandbox } from "../../../../src/runtime/sandbox/choose-sandbox.ts";
import { openEgressProxy } from "../../../../src/runtime/sandbox/egress-proxy.ts";
import type { Sandbox } from "../../../../src/runtime/sandbox.ts";

/** Opens the tier as the product does, with self-test and pool; otherwise returns why it is unavailable. */
export async function openTier(isolation: "bubblewrap" | "landlock"): Promise<Sandbox | { readonly skip: string }> {
  const { sandbox, tiers } = await openSandbox({
    isolation,
    egress: (server, network, log, endpoint) => openEgressProxy(server, { network, clock: systemClock, log, endpoint }),
  });
  return sandbox ?? { skip: tiers.map(({ reason }) => reason).join(" ") };
}
