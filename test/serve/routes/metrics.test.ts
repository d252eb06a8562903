import { afterEach, expect, test } from "vitest";
import type { RequestRecord } from "../../../src/serve/telemetry.ts";
import { type OpenHttp, openHttp, rpcCall } from "../open-http.ts";
import { sendRaw } from "../send-raw.ts";

let server: OpenHttp | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test("the metrics count requests by route, calls by tool and error, and published skills by access", async () => {
  const access = { default: "private" as const, public: ["alpha"], restricted: [], private: [] };
  server = await openHttp({ config: { access } });
  await server.rpc(rpcCall("list_skills"));
  await server.rpc(rpcCall("describe_skill", { name: "zz" }));
  await server.rpc(rpcCall("drop_table"));
  await server.get("/secret-path/?q=1");
  await server.get("/rpc", { token: "wrong" });
  const answer = await server.get("/metrics", { token: null });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await answer.text();
  const lines = text.split("\n").filter((line) => /_count|^acp|^http_server_active/.test(line));
  const request = (method: string, route: string, code: number, count: number) =>
    `http_server_request_duration_seconds_count{http_request_method="${method}",url_scheme="http",http_route="${route}",http_response_status_code="${code}"} ${count}`;
  expect(lines).toEqual(
    expect.arrayContaining([
      request("POST", "/rpc", 200, 3),
      request("GET", "", 404, 1),
      request("GET", "/rpc", 401, 1),
      'gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="list_skills",error_type=""} 1',
      'gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="describe_skill",error_type="SKILL_NOT_FOUND"} 1',
      'gen_ai_execute_tool_duration_seconds_count{gen_ai_tool_name="_OTHER",error_type="METHOD_NOT_FOUND"} 1',
      'acp_skills_catalog_skills{access="public"} 1',
      'acp_skills_catalog_skills{access="private"} 2',
      'http_server_active_requests{http_request_method="GET",url_scheme="http"} 1',
    ]),
  );
  expect(text).not.toMatch(/secret-path|wrong/);
  const again = await server.get("/metrics");
  expect(await again.text()).toContain(request("GET", "/metrics", 200, 1));
});

test("where other machines can connect, the metrics need a token", async () => {
  server = await openHttp({ host: "0.0.0.0" });
  const url = server.url.replace("0.0.0.0", "127.0.0.1");
  const anonymous = await fetch(`${url}/metrics`);
  expect(anonymous.status).toBe(401);
  expect(anonymous.headers.get("www-authenticate")).toBe("Bearer");
  expect(await anonymous.json()).toEqual({
    error: { code: "AUTH_REQUIRED", message: "The metrics need a bearer token." },
  });
});

test("behind a proxy on this machine, the metrics need a token", async () => {
  server = await openHttp({ config: { publicUrl: "https://skills.example" } });
  const headers = { host: "skills.example" };
  expect((await sendRaw(server.url, "/metrics", { headers })).status).toBe(401);
  expect((await server.get("/metrics", { token: null })).status).toBe(401);
  expect((await server.get("/metrics")).status).toBe(200);
});

test("probes are answered whatever host and credentials they send; nothing else is", async () => {
  server = await openHttp();
  const headers = { host: "10.0.0.7:8080", authorization: "Bearer old" };
  for (const path of ["/healthz", "/readyz"]) {
    const probed = await sendRaw(server.url, path, { headers });
    expect(probed).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect(probed.headers["cache-control"]).toBe("no-store");
  }
  expect((await sendRaw(server.url, "/metrics", { headers })).status).toBe(421);
});

test("every request is reported once when it has ended, with its caller and id, refused ones too", async () => {
  const ended: RequestRecord[] = [];
  server = await openHttp({ requestEnded: (record) => void ended.push(record) });
  await server.get("/healthz", { headers: { "x-request-id": "mine" } });
  await server.rpc(rpcCall("list_skills"));
  await server.get("/metrics", { token: "wrong" });
  await expect.poll(() => ended.length).toBe(3);
  expect(ended.map(({ requestId, caller, method, status }) => ({ requestId, caller, method, status }))).toEqual([
    { requestId: "mine", caller: "anonymous", method: "GET", status: 200 },
    { requestId: expect.stringMatching(/^[0-9a-f]{12}-1$/) as string, caller: "local", method: "POST", status: 200 },
    { requestId: expect.stringMatching(/^[0-9a-f]{12}-2$/) as string, caller: "anonymous", method: "GET", status: 401 },
  ]);
});

test("a server of a cluster adds the metrics of the cluster", async () => {
  server = await openHttp();
  Object.assign(server.app, { sharedMetrics: () => Promise.resolve("acp_skills_cluster_reachable 1\n") });
  const text = await (await server.get("/metrics")).text();
  expect(text).toMatch(/^acp_skills_event_streams 0\nacp_skills_cluster_reachable 1\n$/m);
});
