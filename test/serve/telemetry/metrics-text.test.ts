import { expect, test } from "vitest";
import { createHistogram } from "../../../src/serve/telemetry/histogram.ts";
import { toMetricsText } from "../../../src/serve/telemetry/metrics-text.ts";

test("a counter shows its help, its type and one line for each combination of labels", () => {
  const text = toMetricsText([
    {
      name: "runs_total",
      help: "Runs\nthat ended: \\.",
      type: "counter",
      samples: [
        { labels: { outcome: "failed" }, value: 2 },
        { labels: {}, value: 0.5 },
      ],
    },
  ]);
  expect(text).toBe(
    '# HELP runs_total Runs\\nthat ended: \\\\.\n# TYPE runs_total counter\nruns_total{outcome="failed"} 2\nruns_total 0.5\n',
  );
});

test("label values are escaped, so that none can add a line or a label", () => {
  const samples = [{ labels: { name: 'a"}\n\\b' }, value: 1 }];
  const text = toMetricsText([{ name: "n", help: "h", type: "gauge", samples }]);
  expect(text.split("\n")[2]).toBe(String.raw`n{name="a\"}\n\\b"} 1`);
});

test("the buckets of a histogram are cumulative, and the last is for all", () => {
  const histogram = createHistogram([0.1, 1]);
  for (const value of [0.1, 0.05, 0.5, 7]) histogram.observe(value);
  const samples = [{ labels: { route: "/rpc" }, value: histogram }];
  const text = toMetricsText([{ name: "d_seconds", help: "h", type: "histogram", samples }]);
  expect(text.split("\n").slice(2)).toEqual([
    'd_seconds_bucket{route="/rpc",le="0.1"} 2',
    'd_seconds_bucket{route="/rpc",le="1"} 3',
    'd_seconds_bucket{route="/rpc",le="+Inf"} 4',
    'd_seconds_sum{route="/rpc"} 7.65',
    'd_seconds_count{route="/rpc"} 4',
    "",
  ]);
});
