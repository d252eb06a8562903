import { silentLog } from "../../../src/base/log.ts";
import type { ApprovalStore } from "../../../src/runtime/trust/approvals.ts";
import type { TrustEvent, TrustOptions } from "../../../src/runtime/trust.ts";
import { ConfiguredGrants } from "../../../src/runtime/trust/configured-grants.ts";
import type { Policy } from "../../../src/runtime/trust/policy.ts";
import { Trust } from "../../../src/runtime/trust/personal-trust.ts";
import { manualClock } from "../../manual-clock.ts";
import { memoryApprovals } from "./approvals/memory-approvals.ts";
import { noPolicy } from "../../../src/runtime/trust/policy/open-policies.ts";

export interface OpenTrust {
  readonly trust: Trust;
  readonly configured: ConfiguredGrants;
  readonly store: ApprovalStore;
  /** What was recorded, oldest first. */
  readonly events: TrustEvent[];
}

/** The trust of a person, with everything in memory. Every directory is a project of its own. */
export function openTrust({
  grants = [],
  policy = {},
  store = memoryApprovals(),
  ...options
}: Partial<Omit<TrustOptions, "configured">> & {
  readonly grants?: readonly string[];
  readonly policy?: Partial<Policy>;
} = {}): OpenTrust {
  const configured = new ConfiguredGrants(grants);
  const events: TrustEvent[] = [];
  const trust = new Trust({
    store,
    policyFor: () => ({ ...noPolicy, ...policy }),
    projectOf: (directory, _worktrees, without) => without ?? directory,
    repositoryAt: (project) => `the one at ${project}`,
    configured,
    who: "ada",
    clock: manualClock(),
    now: () => Date.UTC(2026, 0, 1),
    record: (event) => void events.push(event),
    log: silentLog,
    ...options,
  });
  return { trust, configured, store, events };
}
