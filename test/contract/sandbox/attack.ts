import { beforeAll, describe, expect, it } from "vitest";
import type { Json, RunEnd } from "../../../src/runtime/sandbox.ts";
import { processesNamedAfter } from "./host-state.ts";
import { type More, attackCode, codeRun } from "./runs.ts";
import type { Outcome, Trial } from "./tier.ts";

/** An attack by hostile code, which every tier must resist. */
export interface Attack {
  /** Completes the test name "resists an attempt to …". */
  readonly tries: string;
  /** Python: a function `attack(bait)` that uses `prelude.py`. Each `attempt` must fail. */
  readonly code: string;
  readonly more?: More;
  /** How the run may end; by default it returns. */
  readonly ends?: readonly RunEnd["type"][];
  /** Additional assertions; `found` is what `attack` returned. */
  readonly check?: (found: Json, outcome: Outcome, trial: Trial) => void;
  /** Uses the kernel or file descriptors; skipped in tiers whose programs are not processes. */
  readonly ofProcesses?: boolean;
  /** Succeeds without a sandbox and is harmless there; the suite runs it as a control. */
  readonly control?: "succeeds";
}

interface Report {
  readonly tried: Readonly<Record<string, string>>;
  readonly harmless: Readonly<Record<string, string>>;
  readonly found: Json;
}

/** One test per attack. Those that exhaust resources run `oneByOne`, and only if no earlier process has escaped. */
export function describeAttacks(
  trial: Trial,
  on: string,
  attacks: readonly Attack[],
  order: { oneByOne?: boolean } = {},
): void {
  const tried = attacks.filter(({ ofProcesses = false }) => trial.tier.processes || !ofProcesses);
  if (tried.length === 0) return;
  describe(`attacks on ${on}`, order.oneByOne === true ? {} : trial.together, () => {
    if (order.oneByOne === true) {
      beforeAll(() => {
        const escaped = processesNamedAfter(trial.bait.token);
        if (escaped.length > 0) throw new Error("Processes of earlier runs are alive: what is not held is not bombed.");
      });
    }
    for (const attack of tried) {
      it(`resists an attempt to ${attack.tries}`, () => {
        const { code, more, ends = ["returned"], check } = attack;
        const run = codeRun(attackCode(code), { ...more, args: trial.bait.facts });
        return trial.run(run, (outcome) => {
          const { end } = outcome;
          if (!ends.includes(end.type)) expect(end, "how the run ended").toEqual(ends);
          const report = end.type === "returned" ? (end.value as unknown as Report) : undefined;
          if (report !== undefined) expect(succeeded(report, trial), "attempts that did not fail").toEqual({});
          check?.(report?.found ?? null, outcome, trial);
        });
      });
    }
  });
}

/** Attempts that were not refused. "absent" counts as refused only for system calls that the architecture does not have. */
function succeeded({ tried, harmless }: Report, { tier }: Trial): Record<string, string> {
  const refused = tier.processes ? /^(refused: |absent: not on )/ : /^(refused|absent): /;
  const fine = tier.processes ? /^(got|refused): |^absent: not on / : /^(got|refused|absent): /;
  return Object.fromEntries([
    ...Object.entries(tried).filter(([, outcome]) => !refused.test(outcome)),
    ...Object.entries(harmless).filter(([, outcome]) => !fine.test(outcome)),
  ]);
}
