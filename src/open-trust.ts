import { userInfo } from "node:os";
import path from "node:path";
import type { Ledger } from "./ledger/ledger.ts";
import type { Settings } from "./options.ts";
import type { ApprovalStore } from "./trust/approvals.ts";
import { createConfiguredGrants } from "./trust/configured-grants.ts";
import type { ConfiguredGrants } from "./trust/configured-grants.ts";
import { diskApprovals } from "./trust/disk/disk-approvals.ts";
import { noPolicy } from "./trust/policy/policy.ts";
import { createTrust } from "./trust/trust.ts";
import type { Trust } from "./trust/trust.ts";

/** The trust of the person who runs this process, with its parts on disk. */
export function openTrust(
  { grants, dataDirectory, log }: Settings,
  {
    approvals,
    now,
  }: { readonly approvals: ApprovalStore | undefined; readonly ledger: Ledger; readonly now: () => number },
): { readonly trust: Trust; readonly configured: ConfiguredGrants } {
  const configured = createConfiguredGrants(grants);
  const trust = createTrust({
    store: approvals ?? diskApprovals(path.join(dataDirectory, "trust"), { log, now }),
    policyFor: () => noPolicy,
    projectOf: (directory) => directory,
    configured,
    who: userInfo().username,
    now,
    record: () => undefined,
    log,
  });
  return { trust, configured };
}
