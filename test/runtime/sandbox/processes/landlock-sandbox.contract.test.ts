import { describeSandbox } from "../../../contract/sandbox-contract.ts";
import { openTier } from "./open-tier.ts";

describeSandbox("the Landlock tier", {
  tier: "landlock",
  open: () => openTier("landlock"),
  offers: ["code", "skill", "python script", "project", "packages", "secrets", "brokered"],
  processes: true,
  namespaces: false,
});
