import { systemClock, withinTime } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { openSourceCopies, sayFailure } from "../../sources/store.ts";
import { sourceRoot } from "../../sources/install-scope.ts";
import { parseSource } from "../../sources/source.ts";
import type { RemoteRoot } from "../../skills/skillset.ts";
import { createPolicies } from "../../runtime/trust.ts";
import { givenPolicy, reasonOf } from "../arguments/values.ts";
import { defaultDataDirectory } from "../../base/paths/directories.ts";
import { errorLines } from "../report/safe-text.ts";
import { type Terminal, noteSome, onInterruption } from "../report/terminal.ts";

export interface FetchedSources {
  readonly roots: readonly RemoteRoot[];
  /** Whether each source has a copy, fetched now or earlier. */
  readonly complete: boolean;
}

const patienceMs = 20_000;
const shownProblems = 3;

/** Fetches sources once, as the policies of a directory allow. Reports each unreadable source; its last good copy is used, if any. */
export async function fetchSources(
  { sources: texts, allowPrivate }: { readonly sources: readonly string[]; readonly allowPrivate: readonly string[] },
  directory: string,
  terminal: Pick<Terminal, "note" | "progress" | "home">,
): Promise<FetchedSources> {
  const dataDirectory = defaultDataDirectory(terminal.home);
  const sources = texts.map(parseSource);
  const roots = sources.map((source) => sourceRoot(dataDirectory, source));
  const given = { dataDirectory, sources: texts, allowPrivate, clock: systemClock, log: silentLog };
  const policies = createPolicies({ given: givenPolicy(), home: terminal.home, log: silentLog });
  const copies = openSourceCopies(given, {
    denied: (url) => policies.policyFor(directory).deniesSource(url),
    minimumAge: () => policies.policyFor(directory).minimumAge,
  });
  const { signal, stop } = onInterruption();
  terminal.progress.show("fetching skills");
  let complete = true;
  try {
    const outcomes = await withinTime(copies.refresh(signal), systemClock, patienceMs);
    if (outcomes === undefined) {
      const names = sources.map(({ label }) => label).join(", ");
      terminal.note(`${names}: not read within ${patienceMs / 1_000} s; the last good copies are used`);
    }
    for (const { state, failure } of outcomes ?? []) {
      const { label, problems, lastGood } = state;
      const lines = problems.map((line) => `${label}: ${line}`);
      if (failure === undefined) noteSome(lines, shownProblems, terminal);
      else terminal.note(...errorLines(`${label}: ${sayFailure(state)}`));
      if (failure !== undefined && lastGood === undefined) complete = false;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    terminal.note(`skills of others cannot be fetched: ${reasonOf(error)}`);
    complete = false;
  } finally {
    terminal.progress.done();
    stop();
    await copies.close();
  }
  return { roots, complete };
}
