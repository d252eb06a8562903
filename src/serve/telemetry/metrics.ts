import type { RunStep } from "../../wire/run-event.ts";
import type { AccessPolicy } from "../../wire/skill-sharing.ts";
import { Metric, otherValue } from "../../wire/metric.ts";
import { servedTools } from "../../wire/tools.ts";

type RunOutcome = Extract<RunStep, { readonly type: "ended" }>["status"];

/**
 * Counters of the server, with the names of OpenTelemetry. No label contains a caller, a skill or a path. Each metric has a limited number
 * of series: further ones are counted as `_OTHER`. Never throws.
 */
export interface Metrics {
  readonly requestStarted: (method: string) => void;
  /** Counts a request. `route` is a template such as `/s/:token/*`, never the requested path; undefined if none matched. */
  readonly requestEnded: (route: string | undefined, method: string, status: number, ms: number) => void;
  /** Counts a call of a tool; `error` is the code of its error. */
  readonly callEnded: (tool: string, error: string | undefined, ms: number) => void;
  readonly runEnded: (outcome: RunOutcome) => void;
  readonly streamOpened: () => void;
  readonly streamClosed: () => void;
  /** Renders all metrics. `skills`: how many are published now, by access. */
  readonly render: (now: { readonly skills: Readonly<Record<AccessPolicy, number>> }) => string;
}

/** The bounds of the histograms in seconds, as OpenTelemetry advises for requests and for tools. */
const requestBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const callBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"]);
/** The scheme of all requests: only a proxy would use TLS. */
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
