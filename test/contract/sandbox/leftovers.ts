import { describe, expect, it } from "vitest";
import { type HostState, hostState } from "./host-state.ts";
import { recordingHost } from "./recording-host.ts";
import { codeRun, skillOf } from "./runs.ts";
import { samples } from "./samples.ts";
import type { Trial } from "./tier.ts";

/** Polling for resources that the system releases asynchronously. */
const patience = { timeout: 10_000, interval: 20 };

/** Runs leave nothing behind, however they end. */
export function describeLeftovers(trial: Trial): void {
  describe("many runs", () => {
    it("leave no process, mount, file or descriptor", async () => {
      const skills = [skillOf("a", { "main.py": "def main(): pass\n" }, "main.py")];
      const several = async (rounds: number): Promise<void> => {
        for (let round = 0; round < rounds; round++) {
          const cancel = new AbortController();
          await Promise.all([
            trial.run(codeRun(samples.echoes, { args: { round }, skills }), ({ end }) =>
              expect(end.type).toBe("returned"),
            ),
            trial.run(codeRun(samples.raises), ({ end }) => expect(end.type).toBe("raised")),
            trial.run(codeRun(samples.printsAndWaits), ({ end }) => expect(end.type).toBe("cancelled"), {
              signal: cancel.signal,
              answers: { print: () => cancel.abort() },
            }),
          ]);
        }
      };
      await several(2);
      // The pool is refilled after the reply: wait until the state has settled.
      const before = await settled();
      await several(5);
      await expect.poll(hostState, patience).toEqual(before);
    }, 60_000);

    const hasOwnNetwork = trial.tier.isolates !== false && trial.tier.offers.includes("network");
    it.runIf(hasOwnNetwork)("leave nothing if their network cannot be opened", async () => {
      const before = await settled();
      for (const entry of ["https://example.com:0", "https://example.com:65536", "https://", "no entry"]) {
        const run = codeRun(samples.echoes, { network: [entry] });
        await expect(trial.sandbox.run(run, recordingHost(), new AbortController().signal)).rejects.toMatchObject({
          code: "INVALID_OPTIONS",
        });
      }
      await expect.poll(hostState, patience).toEqual(before);
    });
  });
}

/** The state after the sandbox was closed. */
export function describeAfterwards(trial: Trial): void {
  describe("afterwards", () => {
    it("the host is as it was before", async () => {
      await trial.sandbox.close();
      await expect.poll(() => difference(trial.before, hostState()), patience).toEqual({});
      expect(trial.bait.harm()).toEqual([]);
    });
  });
}

async function settled(): Promise<HostState> {
  let last = hostState();
  let same = 0;
  await expect
    .poll(() => {
      const now = hostState();
      same = JSON.stringify(now) === JSON.stringify(last) ? same + 1 : 0;
      last = now;
      return same;
    }, patience)
    .toBeGreaterThan(10);
  return last;
}

function difference(before: HostState, after: HostState): Partial<Record<keyof HostState, unknown>> {
  return {
    ...(after.mounts === before.mounts ? {} : { mounts: after.mounts }),
    ...(after.temporary.length === before.temporary.length ? {} : { temporary: after.temporary }),
    // The test runner may have opened descriptors of its own.
    ...(after.descriptors <= before.descriptors + 2 ? {} : { descriptors: [before.descriptors, after.descriptors] }),
    ...(after.descendants === before.descendants ? {} : { descendants: [before.descendants, after.descendants] }),
  };
}
