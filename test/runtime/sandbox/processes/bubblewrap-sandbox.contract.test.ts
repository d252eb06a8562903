import { describeSandbox } from "../../../contract/sandbox-contract.ts";
import { openTier } from "./open-tier.ts";

describeSandbox("the bubblewrap tier", {
  tier: "bubblewrap",
  open: () => openTier("bubblewrap"),
  offers: [
    "code",
    "skill",
    "python script",
    "bash script",
    "node script",
    "network",
    "project",
    "project of root's",
    "packages",
    "secrets",
    "secrets sent for scripts",
    "brokered",
  ],
  processes: true,
  namespaces: true,
});
