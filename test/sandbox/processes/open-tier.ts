import { systemClock } from "../../../src/base/clock.ts";
import { openSandbox } from "../../../src/sandbox/choose-sandbox.ts";
import { openEgressProxy } from "../../../src/sandbox/egress/egress-proxy.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";

/** As the product opens it, probe and pool included; else why this machine cannot have it. */
export async function openTier(isolation: "bubblewrap" | "landlock"): Promise<Sandbox | { readonly skip: string }> {
  const { sandbox, tiers } = await openSandbox({
    isolation,
    egress: (server, network, log) => openEgressProxy(server, { network, clock: systemClock, log }),
  });
  return sandbox ?? { skip: tiers.map(({ reason }) => reason).join(" ") };
}
