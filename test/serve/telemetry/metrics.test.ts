import { expect, test } from "vitest";
import { type Metrics, createMetrics } from "../../../src/serve/telemetry/metrics.ts";

const skills = { public: 2, restricted: 0, private: 1 };

function lines(metrics: Metrics, start: string): string[] {
  return metrics
    .render({ skills })
    .split("\n")
    .filter((line) => line.startsWith(start));
}

test("a request is counted under its route, method and status, and is active until it has ended", () => {
  const metrics = createMetrics();
  metrics.requestStarted("POST");
  metrics.requestStarted("GET");
  metrics.requestStarted("POST");
  metrics.requestEnded("/rpc", "POST", 200, 12);
  expect(lines(metrics, "http_server_active_requests")).toEqual([
    'http_server_active_requests{http_request_method="POST",url_scheme="http"} 1',
    'http_server_active_requests{http_request_method="GET",url_scheme="http"} 1',
  ]);
  const labels = 'http_request_method="POST",url_scheme="http",http_route="/rpc",http_response_status_code="200"';
  expect(lines(metrics, "http_server_request_duration_seconds_count")).toEqual([
    `http_server_request_duration_seconds_count{${labels}} 1`,
  ]);
  expect(lines(metrics, "http_server_request_duration_seconds_bucket")).toContain(
    `http_server_request_duration_seconds_bucket{${labels},le="0.025"} 1`,
  );
});

test("a metric shows its help, its type and one line for each combination of labels", () => {
  const text = createMetrics().render({ skills });
  expect(text).toContain(
    "# HELP acp_skills_catalog_skills Skills that are published.\n# TYPE acp_skills_catalog_skills gauge\n" +
      'acp_skills_catalog_skills{access="public"} 2\nacp_skills_catalog_skills{access="restricted"} 0\n' +
      'acp_skills_catalog_skills{access="private"} 1\n',
  );
  expect(text).toContain("# TYPE acp_skills_runs_total counter\n");
});

test("calls are counted by tool and error; tools and methods that do not exist share one value", () => {
  const metrics = createMetrics();
  metrics.callEnded("list_skills", undefined, 1);
  metrics.callEnded("describe_skill", "SKILL_NOT_FOUND", 1);
  for (const tool of ["a", "b", "__proto__"]) metrics.callEnded(tool, "METHOD_NOT_FOUND", 1);
  metrics.requestEnded("", "BREW", 405, 1);
  expect(lines(metrics, "gen_ai_execute_tool_duration_seconds_count")).toEqual([
    'gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="list_skills",error_type=""} 1',
    'gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="describe_skill",error_type="SKILL_NOT_FOUND"} 1',
    'gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="_OTHER",error_type="METHOD_NOT_FOUND"} 3',
  ]);
  expect(lines(metrics, "http_server_request_duration_seconds_count")[0]).toContain('http_request_method="_OTHER"');
});

test("runs are counted by outcome, from zero on", () => {
  const metrics = createMetrics();
  metrics.runEnded("failed");
  expect(lines(metrics, "acp_skills_runs_total")).toEqual([
    'acp_skills_runs_total{outcome="completed"} 0',
    'acp_skills_runs_total{outcome="failed"} 1',
    'acp_skills_runs_total{outcome="refused"} 0',
    'acp_skills_runs_total{outcome="cancelled"} 0',
  ]);
});

test("published skills are counted by access, and open streams are", () => {
  const metrics = createMetrics();
  metrics.streamOpened();
  metrics.streamOpened();
  metrics.streamClosed();
  expect(lines(metrics, "acp_skills_catalog_skills")).toEqual([
    'acp_skills_catalog_skills{access="public"} 2',
    'acp_skills_catalog_skills{access="restricted"} 0',
    'acp_skills_catalog_skills{access="private"} 1',
  ]);
  expect(lines(metrics, "acp_skills_event_streams")).toEqual(["acp_skills_event_streams 1"]);
});

test("a thousand different routes, codes and statuses do not make a thousand series", () => {
  const metrics = createMetrics();
  for (let n = 0; n < 1_000; n++) {
    metrics.requestEnded(`/${n}`, "GET", 200, 1);
    metrics.requestEnded("/rpc", "GET", n, 1);
    metrics.callEnded("list_skills", `CODE_${n}`, 1);
  }
  expect(lines(metrics, "http_server_request_duration_seconds_count").length).toBeLessThanOrEqual(258);
  expect(lines(metrics, "gen_ai_execute_tool_duration_seconds_count").length).toBeLessThanOrEqual(129);
});

test("label values are escaped, so that none can add a line or a label", () => {
  const metrics = createMetrics();
  metrics.callEnded("list_skills", 'a"}\n\\b', 1);
  expect(lines(metrics, "gen_ai_execute_tool_duration_seconds_count")).toEqual([
    String.raw`gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="list_skills",error_type="a\"}\n\\b"} 1`,
  ]);
});

test("the buckets of a histogram are cumulative, and the last is for all", () => {
  const metrics = createMetrics();
  for (const ms of [100, 50, 500, 700_000]) metrics.callEnded("list_skills", undefined, ms);
  const name = "gen_ai_execute_tool_duration_seconds";
  const labels = 'gen_ai_tool_name="list_skills",error_type=""';
  const text = metrics.render({ skills });
  expect(text).toContain(
    `# HELP ${name} Duration of tool calls; error_type is the code of the error.\n# TYPE ${name} histogram\n`,
  );
  expect(text).toContain(`\n${name}_bucket{${labels},le="0.05"} 1\n${name}_bucket{${labels},le="0.1"} 2\n`);
  expect(text).toContain(`\n${name}_bucket{${labels},le="300"} 3\n${name}_bucket{${labels},le="+Inf"} 4\n`);
  expect(text).toContain(`\n${name}_sum{${labels}} 700.65\n${name}_count{${labels}} 4\n`);
});
