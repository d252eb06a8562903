import { SkillsError } from "../../errors.ts";
import type { Sandbox } from "../sandbox.ts";

/** What a tier brings; the rest is the same for all. */
export interface TierParts extends Pick<Sandbox, "tier" | "refuses"> {
  /** A run that is not refused, with a signal that closing aborts too. */
  readonly perform: Sandbox["run"];
  /** Called when nothing runs any more, and nothing will. */
  readonly close: () => Promise<void>;
}

/** A sandbox that refuses what its tier refuses, and everything once it is closed; closing ends what runs, and waits for it. */
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
      // By hand, and taken back: closing outlives every run.
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
