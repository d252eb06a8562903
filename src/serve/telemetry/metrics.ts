import type { RunStep } from "../../wire/run-event.ts";
import type { AccessPolicy } from "../../wire/skill-sharing.ts";
import { servedTools } from "../../wire/tools.ts";

type RunOutcome = Extract<RunStep, { readonly type: "ended" }>["status"];

/**
 * Counters of the server, named as OpenTelemetry names them. No label holds a caller, a skill or a path, and each metric has a limited
 * number of series: further ones are counted as `_OTHER`. Never throws.
 */
export interface Metrics {
  readonly requestStarted: (method: string) => void;
  /** `route` is a template such as `/s/:token/*`, never what was requested; undefined where none matched. */
  readonly requestEnded: (route: string | undefined, method: string, status: number, ms: number) => void;
  /** A call of a tool; `error` is the code of its error. */
  readonly callEnded: (tool: string, error: string | undefined, ms: number) => void;
  readonly runEnded: (outcome: RunOutcome) => void;
  readonly streamOpened: () => void;
  readonly streamClosed: () => void;
  /** `skills`: how many are published now. */
  readonly render: (now: { readonly skills: Readonly<Record<AccessPolicy, number>> }) => string;
}

/** Seconds; as OpenTelemetry advises for requests and for tools. */
const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const callBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

const otherValue = "_OTHER";
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"]);
/** TLS is that of a proxy in front. */
const scheme = "http";
const runOutcomes: readonly RunOutcome[] = ["completed", "failed", "refused", "cancelled"];

export function createMetrics(): Metrics {
  const requests = new Metric("histogram", "http_server_request_duration_seconds", "Duration of HTTP requests.", {
    labels: ["http_request_method", "url_scheme", "http_route", "http_response_status_code"],
    bounds: requestBounds,
  });
  const active = new Metric("gauge", "http_server_active_requests", "HTTP requests in progress.", {
    labels: ["http_request_method", "url_scheme"],
  });
  const callHelp = "Duration of tool calls; error_type is the code of the error.";
  const calls = new Metric("histogram", "gen_ai_execute_tool_duration_seconds", callHelp, {
    labels: ["gen_ai_tool_name", "error_type"],
    bounds: callBounds,
  });
  const runs = new Metric("counter", "acp_skills_runs_total", "Runs that have ended.", { labels: ["outcome"] });
  for (const outcome of runOutcomes) runs.add([outcome], 0);
  const streams = new Metric("gauge", "acp_skills_event_streams", "Open streams of events.");
  streams.add([], 0);
  const toKnownMethod = (method: string): string => (knownMethods.has(method) ? method : otherValue);

  return {
    requestStarted: (method) => active.add([toKnownMethod(method), scheme], 1),
    requestEnded(route = "", method, status, ms) {
      const known = toKnownMethod(method);
      active.add([known, scheme], -1);
      requests.observe([known, scheme, route, String(status)], ms / 1_000);
    },
    callEnded: (tool, error = "", ms) => calls.observe([servedTools.has(tool) ? tool : otherValue, error], ms / 1_000),
    runEnded: (outcome) => runs.add([outcome], 1),
    streamOpened: () => streams.add([], 1),
    streamClosed: () => streams.add([], -1),
    render({ skills }) {
      const published = new Metric("gauge", "acp_skills_catalog_skills", "Skills that are published.", { labels: ["access"] }); // prettier-ignore
      for (const [access, count] of Object.entries(skills)) published.add([access], count);
      return [requests, active, calls, runs, published, streams].map((metric) => metric.render()).join("");
    },
  };
}

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/** More than the server has routes, or the error table codes. */
const mostSeries = 128;

/** The values of one combination of labels. */
interface Series {
  /** As the text format writes them: `name="value"`, escaped. */
  readonly labels: readonly string[];
  /** The value of a counter or gauge, or the sum of a histogram. */
  value: number;
  /** Observations up to each bound, and above the last one. */
  readonly counts: number[];
}

/** A metric in the text format of Prometheus, 0.0.4. */
class Metric {
  readonly #type: "counter" | "gauge" | "histogram";
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  /** The upper bounds of a histogram, ascending. */
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor(
    type: "counter" | "gauge" | "histogram",
    name: string,
    help: string,
    { labels = [], bounds = [] }: { readonly labels?: readonly string[]; readonly bounds?: readonly number[] } = {},
  ) {
    [this.#type, this.#name, this.#help, this.#labels, this.#bounds] = [type, name, help, labels, bounds];
  }

  /** `values`: those of the labels. */
  add(values: readonly string[], amount: number): void {
    this.#of(values).value += amount;
  }

  observe(values: readonly string[], value: number): void {
    const series = this.#of(values);
    const found = this.#bounds.findIndex((bound) => value <= bound);
    const index = found < 0 ? this.#bounds.length : found;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.value += value;
  }

  #of(values: readonly string[]): Series {
    const key = values.join("\n");
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= mostSeries && values.some((value) => value !== otherValue))
      return this.#of(this.#labels.map(() => otherValue));
    const labels = this.#labels.map((label, at) => `${label}="${toLabelValue(values[at] ?? "")}"`);
    const series = { labels, value: 0, counts: [...this.#bounds, Infinity].map(() => 0) };
    this.#series.set(key, series);
    return series;
  }

  render(): string {
    const name = this.#name;
    const lines = [`# HELP ${name} ${this.#help}`, `# TYPE ${name} ${this.#type}`];
    for (const { labels, value, counts } of this.#series.values()) {
      if (this.#type !== "histogram") {
        lines.push(toLine(name, labels, value));
        continue;
      }
      let count = 0;
      for (const [at, bound] of [...this.#bounds, "+Inf"].entries()) {
        count += counts[at] ?? 0;
        lines.push(toLine(`${name}_bucket`, [...labels, `le="${bound}"`], count));
      }
      lines.push(toLine(`${name}_sum`, labels, value), toLine(`${name}_count`, labels, count));
    }
    return `${lines.join("\n")}\n`;
  }
}

function toLine(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${value}`;
}

function toLabelValue(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
