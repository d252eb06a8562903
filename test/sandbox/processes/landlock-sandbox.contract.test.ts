import { openEgressProxy } from "../../../src/sandbox/egress/egress-proxy.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { openSandbox } from "../../../src/sandbox/choose-sandbox.ts";
import { describeSandbox } from "../../contract/sandbox-contract.ts";

describeSandbox("the Landlock tier", {
  async open() {
    const { sandbox, tiers } = await openSandbox({
      isolation: "landlock",
      egress: (server, network, log) => openEgressProxy(server, { network, clock: systemClock, log }),
    });
    return sandbox ?? { skip: tiers[0]?.reason ?? "There is none." };
  },
  offers: ["code", "skill", "python script", "project", "packages", "secrets", "brokered"],
  processes: true,
  namespaces: false,
});
