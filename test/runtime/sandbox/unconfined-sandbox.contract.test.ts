import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import type { RunNeeds, Sandbox } from "../../../src/runtime/sandbox.ts";
import { openUnconfinedSandbox } from "../../../src/runtime/sandbox/unconfined-sandbox.ts";
import { describeUnconfined } from "../../contract/sandbox-contract.ts";

const outside = <Run extends RunNeeds>(run: Run): Run => ({ ...run, isolation: "none" });

async function open(): Promise<Sandbox | { readonly skip: string }> {
  const sandbox = await openUnconfinedSandbox({ clock: systemClock, log: silentLog });
  if ("reason" in sandbox) return { skip: sandbox.reason };
  return {
    tier: sandbox.tier,
    lacks: sandbox.lacks,
    refuses: (run) => sandbox.refuses(outside(run)),
    run: (run, host, signal) => sandbox.run(outside(run), host, signal),
    close: () => sandbox.close(),
  };
}

describeUnconfined("the tier without isolation", {
  tier: "none",
  open,
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
    "brokered",
  ],
  processes: true,
  namespaces: false,
  isolates: false,
});
