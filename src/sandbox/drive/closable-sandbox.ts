import { SkillsError } from "../../errors.ts";
import type { Sandbox } from "../sandbox.ts";

/** What differs between tiers. */
export interface TierParts extends Pick<Sandbox, "tier" | "refuses"> {
  /** Runs what is not refused; closing the sandbox aborts the signal too. */
  readonly perform: Sandbox["run"];
  /** Called after the last run. */
  readonly close: () => Promise<void>;
}

/** Refuses what the tier refuses, and every run once closed. Closing ends all runs and waits for them. */
export function closableSandbox({ tier, refuses, perform, close }: TierParts): Sandbox {
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  return {
    tier,
    refuses,
    async run(run, host, signal) {
      const refusal = closing.signal.aborted ? "The sandbox is closed." : refuses(run);
      if (refusal !== undefined) throw new SkillsError("SANDBOX_UNAVAILABLE", refusal);
      if (signal.aborted) return { type: "cancelled" };
      // Not AbortSignal.any: listeners on `closing` would accumulate with every run.
      const both = new AbortController();
      const abort = (): void => both.abort();
      for (const one of [signal, closing.signal]) one.addEventListener("abort", abort);
      const performed = perform(run, host, both.signal).finally(() => {
        for (const one of [signal, closing.signal]) one.removeEventListener("abort", abort);
        running.delete(settled);
      });
      const settled = performed.then(
        () => undefined,
        () => undefined,
      );
      running.add(settled);
      return performed;
    },
    async close() {
      closing.abort();
      await Promise.all(running);
      await close();
    },
  };
}
