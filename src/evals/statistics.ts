import { type EvalRun, passRate } from "./recorded-runs.ts";

interface Spread {
  readonly mean: number;
  readonly stddev: number;
}

/** How many runs did what they should, with a confidence interval of 95 %. */
export interface Share {
  readonly count: number;
  readonly of: number;
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The figures of the sessions with the skill, or of the sessions without it. */
export interface Configuration {
  readonly runs: number;
  readonly failed: number;
  readonly pass_rate?: Spread;
  readonly time_seconds: Spread;
  readonly tokens?: Spread;
}

interface Compared {
  readonly with_skill?: Configuration;
  readonly without_skill?: Configuration;
}

export interface CaseSummary extends Compared {
  readonly id: string;
  readonly shouldTrigger: boolean;
  /** How many of the working sessions with the skill used it; absent if that is unknown for one of them. */
  readonly use?: { readonly count: number; readonly of: number };
}

/** The figures of `benchmark.json` in the Agent Skills guide, each case, and whether the skill was used when it should be. */
export interface Benchmark {
  readonly cases: readonly CaseSummary[];
  readonly run_summary: Compared & {
    readonly delta?: { readonly pass_rate?: number; readonly time_seconds: number; readonly tokens?: number };
  };
  readonly triggering: {
    /** Among the runs that used the skill, the share that should have. */
    readonly precision?: Share;
    /** Among the runs that should use the skill, the share that did. */
    readonly recall?: Share;
    /** Runs for which it is unknown whether the skill was used, because the agent delegated its work. */
    readonly unseen: number;
  };
}

export function toBenchmark(runs: readonly EvalRun[]): Benchmark {
  const summary = compare(runs);
  const { with_skill: inside, without_skill: outside } = summary;
  const seen = runs.filter(({ withSkill, use, fault }) => withSkill && use !== "unseen" && fault === undefined);
  const used = seen.filter(({ use }) => use === "used");
  const wanted = seen.filter(({ shouldTrigger }) => shouldTrigger);
  const right = used.filter(({ shouldTrigger }) => shouldTrigger).length;
  return {
    cases: [...new Set(runs.map(({ id }) => id))].map((id) => toCase(runs.filter((run) => run.id === id))),
    run_summary: { ...summary, ...(inside && outside && { delta: difference(inside, outside) }) },
    triggering: {
      ...(used.length > 0 && { precision: shareOf(right, used.length) }),
      ...(wanted.length > 0 && { recall: shareOf(right, wanted.length) }),
      unseen: runs.filter(({ withSkill, use }) => withSkill && use === "unseen").length,
    },
  };
}

function toCase(runs: readonly EvalRun[]): CaseSummary {
  const { id = "", shouldTrigger = true } = runs[0] ?? {};
  const worked = runs.filter(({ withSkill, fault }) => withSkill && fault === undefined);
  const use = { count: worked.filter(({ use: how }) => how === "used").length, of: worked.length };
  return { id, shouldTrigger, ...(worked.every(({ use: how }) => how !== "unseen") && { use }), ...compare(runs) };
}

function compare(runs: readonly EvalRun[]): Compared {
  const [inside, outside] = [true, false].map((withSkill) =>
    summarise(runs.filter((run) => run.withSkill === withSkill)),
  );
  return { ...(inside && { with_skill: inside }), ...(outside && { without_skill: outside }) };
}

function summarise(runs: readonly EvalRun[]): Configuration | undefined {
  if (runs.length === 0) return undefined;
  const rates = runs.flatMap(({ results }) => passRate(results) ?? []);
  const tokens = runs.flatMap((run) => run.tokens ?? []);
  return {
    runs: runs.length,
    failed: runs.filter(({ fault }) => fault !== undefined).length,
    ...(rates.length > 0 && { pass_rate: spreadOf(rates) }),
    time_seconds: spreadOf(runs.map(({ durationMs }) => durationMs / 1_000)),
    ...(tokens.length > 0 && { tokens: spreadOf(tokens) }),
  };
}

function difference(one: Configuration, other: Configuration): NonNullable<Benchmark["run_summary"]["delta"]> {
  const { pass_rate, tokens } = one;
  return {
    ...(pass_rate && other.pass_rate && { pass_rate: rounded(pass_rate.mean - other.pass_rate.mean) }),
    time_seconds: rounded(one.time_seconds.mean - other.time_seconds.mean),
    ...(tokens && other.tokens && { tokens: rounded(tokens.mean - other.tokens.mean) }),
  };
}

/** The standard deviation of a sample. */
function spreadOf(values: readonly number[]): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean: rounded(mean), stddev: rounded(values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1))) };
}

/** Wilson's score interval. */
export function shareOf(count: number, of: number): Share {
  const z = 1.959964;
  const share = count / of;
  const middle = (share + z ** 2 / (2 * of)) / (1 + z ** 2 / of);
  const half = (z * Math.sqrt((share * (1 - share)) / of + z ** 2 / (4 * of ** 2))) / (1 + z ** 2 / of);
  return {
    count,
    of,
    share: rounded(share),
    low: rounded(Math.max(0, middle - half)),
    high: rounded(Math.min(1, middle + half)),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
