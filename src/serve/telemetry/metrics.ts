import type { RunStep } from "../../wire/run-event.ts";
import type { AccessPolicy } from "../../wire/skill-sharing.ts";
import { type Histogram, createHistogram } from "./histogram.ts";
import { type Labels, type MetricFamily, toMetricsText } from "./metrics-text.ts";
import { servedTools } from "../../wire/tools.ts";

type RunOutcome = Extract<RunStep, { readonly type: "ended" }>["status"];

/**
 * What the server has done, named as OpenTelemetry names it. No label holds a caller, a skill or a path, and every label has a limited
 * number of values: others become `_OTHER`. Recording looks numbers up and allocates nothing once a combination is known. Never throws.
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
  readonly render: (now: CurrentState) => string;
}

/** What is not counted but read when it is asked for. */
interface CurrentState {
  readonly skills: Readonly<Record<AccessPolicy, number>>;
}

/** Seconds; as OpenTelemetry advises for requests and for tools. */
const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const callBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

const otherValue = "_OTHER";
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"]);
/** TLS is that of a proxy in front. */
const scheme = "http";
const runOutcomes: readonly RunOutcome[] = ["completed", "failed", "refused", "cancelled"];
/** More than the server has routes, or the error table codes. */
const mostValues = 128;

export function createMetrics(): Metrics {
  const requests = openHistograms(requestBounds);
  const calls = openHistograms(callBounds);
  const runs = new Map<string, number>(runOutcomes.map((outcome) => [outcome, 0]));
  const activeRequests = new Map<string, number>();
  let openStreams = 0;

  return {
    requestStarted(method) {
      addTo(activeRequests, toKnownMethod(method), 1);
    },
    requestEnded(route, method, status, ms) {
      const known = toKnownMethod(method);
      addTo(activeRequests, known, -1);
      requests.of(known, route ?? "", status).observe(ms / 1_000);
    },
    callEnded(tool, error, ms) {
      calls.of(servedTools.has(tool) ? tool : otherValue, error ?? "", 0).observe(ms / 1_000);
    },
    runEnded(outcome) {
      addTo(runs, outcome, 1);
    },
    streamOpened() {
      openStreams += 1;
    },
    streamClosed() {
      openStreams -= 1;
    },
    render: ({ skills }) =>
      toMetricsText([
        {
          name: "http_server_request_duration_seconds",
          help: "Duration of HTTP requests.",
          type: "histogram",
          samples: requests.samples((method, route, status) => ({
            http_request_method: method,
            url_scheme: scheme,
            http_route: route,
            http_response_status_code: String(status),
          })),
        },
        {
          name: "http_server_active_requests",
          help: "HTTP requests in progress.",
          type: "gauge",
          samples: [...activeRequests].map(([method, value]) => ({
            labels: { http_request_method: method, url_scheme: scheme },
            value,
          })),
        },
        {
          name: "gen_ai_execute_tool_duration_seconds",
          help: "Duration of tool calls; error_type is the code of the error.",
          type: "histogram",
          samples: calls.samples((tool, error) => ({ gen_ai_tool_name: tool, error_type: error })),
        },
        {
          name: "acp_skills_runs_total",
          help: "Runs that have ended.",
          type: "counter",
          samples: [...runs].map(([outcome, value]) => ({ labels: { outcome }, value })),
        },
        {
          name: "acp_skills_catalog_skills",
          help: "Skills that are published.",
          type: "gauge",
          samples: Object.entries(skills).map(([access, value]) => ({ labels: { access }, value })),
        },
        gauge("acp_skills_event_streams", "Open streams of events.", openStreams),
      ]),
  };
}

function toKnownMethod(method: string): string {
  return knownMethods.has(method) ? method : otherValue;
}

function addTo(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

function gauge(name: string, help: string, value: number): MetricFamily {
  return { name, help, type: "gauge", samples: [{ labels: {}, value }] };
}

interface Histograms {
  readonly of: (first: string, second: string, number: number) => Histogram;
  readonly samples: (
    toLabels: (first: string, second: string, number: number) => Labels,
  ) => { readonly labels: Labels; readonly value: Histogram }[];
}

/** One histogram for each combination; `first` has few values, of `second` and `number` a limited number is kept. */
function openHistograms(bounds: readonly number[]): Histograms {
  const known = new Map<string, Map<string, Map<number, Histogram>>>();

  return {
    of(first, second, number) {
      const seconds = entryOf(known, first, () => new Map<string, Map<number, Histogram>>());
      const isFull = seconds.size >= mostValues && !seconds.has(second);
      const numbers = entryOf(seconds, isFull ? otherValue : second, () => new Map<number, Histogram>());
      const isStrange = numbers.size >= mostValues && !numbers.has(number);
      return entryOf(numbers, isStrange ? 0 : number, () => createHistogram(bounds));
    },
    samples: (toLabels) =>
      [...known].flatMap(([first, seconds]) =>
        [...seconds].flatMap(([second, numbers]) =>
          [...numbers].map(([number, value]) => ({ labels: toLabels(first, second, number), value })),
        ),
      ),
  };
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const created = create();
  map.set(key, created);
  return created;
}
