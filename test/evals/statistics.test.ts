import fc from "fast-check";
import { expect, test } from "vitest";
import { type EvalRun, passRate } from "../../src/evals/recorded-runs.ts";
import { shareOf, toBenchmark } from "../../src/evals/statistics.ts";

const result = (passed: boolean | null, weight = 1): EvalRun["results"][number] => ({
  text: "t",
  passed,
  evidence: "",
  weight,
});
const run = (fields: Partial<EvalRun> = {}): EvalRun => ({
  ...{ id: "a", withSkill: true, number: 1, shouldTrigger: true, results: [result(true)], use: "used" },
  ...{ stopReason: "end_turn", durationMs: 1_000, rejected: 0 },
  ...fields,
});

test("the pass rate is weighted, and leaves out what nobody judged", () => {
  expect(passRate([result(true, 3), result(false), result(null, 10)])).toBe(0.75);
  expect(passRate([result(null)])).toBeUndefined();
  expect(passRate([])).toBeUndefined();
});

test("an interval contains the share, lies in 0 to 1, and is Wilson's", () => {
  expect(shareOf(8, 10)).toEqual({ count: 8, of: 10, share: 0.8, low: 0.4902, high: 0.9433 });
  expect(shareOf(0, 3)).toMatchObject({ low: 0, high: 0.5615 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(), (of, count) => {
      const { low, share, high } = shareOf(Math.min(count, of), of);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(share).toBeGreaterThanOrEqual(low - 1e-4);
      expect(share).toBeLessThanOrEqual(high + 1e-4);
    }),
  );
});

test("compares runs with and without the skill", () => {
  const runs = [
    run({ tokens: 100 }),
    run({ results: [result(false)], tokens: 300, durationMs: 3_000 }),
    run({ withSkill: false, results: [result(false)], use: "unused", tokens: 100 }),
  ];
  expect(toBenchmark(runs).run_summary).toEqual({
    with_skill: {
      ...{ runs: 2, failed: 0, pass_rate: { mean: 0.5, stddev: 0.7071 } },
      ...{ time_seconds: { mean: 2, stddev: 1.4142 }, tokens: { mean: 200, stddev: 141.4214 } },
    },
    without_skill: {
      ...{ runs: 1, failed: 0, pass_rate: { mean: 0, stddev: 0 } },
      ...{ time_seconds: { mean: 1, stddev: 0 }, tokens: { mean: 100, stddev: 0 } },
    },
    delta: { pass_rate: 0.5, time_seconds: 1, tokens: 100 },
  });
});

test("summarises each case, and says how many sessions used the skill unless that cannot be seen", () => {
  const runs = [
    run(),
    run({ use: "unused" }),
    run({ use: "unused", fault: "it ended" }),
    run({ withSkill: false, use: "unused", results: [result(null)] }),
    run({ id: "b", use: "unseen", shouldTrigger: false }),
  ];
  expect(toBenchmark(runs).cases).toMatchObject([
    {
      ...{ id: "a", shouldTrigger: true, use: { count: 1, of: 2 } },
      ...{ with_skill: { runs: 3, failed: 1 }, without_skill: { runs: 1, failed: 0 } },
    },
    { id: "b", shouldTrigger: false, with_skill: { runs: 1 } },
  ]);
  expect(toBenchmark(runs).cases[1]).not.toHaveProperty("use");
  expect(toBenchmark(runs).cases[0]?.without_skill).not.toHaveProperty("pass_rate");
});

test("precision and recall count only runs with the skill that worked and can be seen", () => {
  const runs = [
    run(),
    run({ use: "unused" }),
    run({ shouldTrigger: false }),
    run({ shouldTrigger: false, use: "unused" }),
    run({ use: "unseen" }),
    run({ use: "unused", fault: "it broke" }),
    run({ withSkill: false, use: "used" }),
  ];
  expect(toBenchmark(runs).triggering).toMatchObject({
    precision: { count: 1, of: 2 },
    recall: { count: 1, of: 2 },
    unseen: 1,
  });
  expect(toBenchmark([run({ use: "unseen" })]).triggering).toEqual({ unseen: 1 });
});

test("without a run there is nothing to say", () => {
  expect(toBenchmark([])).toEqual({ cases: [], run_summary: {}, triggering: { unseen: 0 } });
});
