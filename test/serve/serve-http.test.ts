import { request } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { serveHttp } from "../../src/serve/serve-http.ts";
import { transportScript } from "../transports.ts";
import { manualClock } from "../manual-clock.ts";
import { type RawAnswer, type RawOptions, rawRequest } from "../mcp/raw-request.ts";
import { waitingToolbox } from "../mcp/waiting-toolbox.ts";
import { openMemoryRuns } from "../runtime/runs/memory-runs.ts";
import { callerConfig, tokenOf } from "./caller-config.ts";
import { type OpenHttp, localToken, openHttp, rpcCall } from "./open-http.ts";
import { defaultConfig } from "../../src/serve/config.ts";
import { toTokenDigest } from "../../src/wire/http.ts";

const opened: OpenHttp[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

async function open(options: Parameters<typeof openHttp>[0] = {}): Promise<OpenHttp> {
  const server = await openHttp(options);
  opened.push(server);
  return server;
}

/** Without credentials unless `headers` has them. */
function raw({ url }: OpenHttp, path: string, options: RawOptions = {}): Promise<RawAnswer> {
  return rawRequest({ url: url + path, headers: {} } as never, { path, body: rpcCall("list_skills"), ...options });
}

const withToken = { authorization: `Bearer ${localToken}` };
const errorOf = ({ text }: RawAnswer): unknown => (JSON.parse(text) as { error: unknown }).error;

describe("a request is refused before it reaches a tool", () => {
  test.each<[string, RawOptions, number, string]>([
    ["a Host that is not ours", { headers: { host: "evil.example" } }, 421, "INVALID_REQUEST"],
    ["our Host with another port", { headers: { host: "127.0.0.1:1" } }, 421, "INVALID_REQUEST"],
    ["no Host", { headers: { host: "" } }, 421, "INVALID_REQUEST"],
    ["an Origin that is not ours", { headers: { origin: "https://evil.example" } }, 403, "PERMISSION_DENIED"],
    ["the Origin of a file", { headers: { origin: "null" } }, 403, "PERMISSION_DENIED"],
    ["a wrong token", { headers: { authorization: "Bearer wrong" } }, 401, "AUTH_REQUIRED"],
    ["another scheme", { headers: { authorization: `Basic ${localToken}` } }, 401, "AUTH_REQUIRED"],
    ["GET", { method: "GET", text: "" }, 405, "INVALID_REQUEST"],
    ["another content type", { headers: { "content-type": "text/plain" } }, 415, "INVALID_REQUEST"],
    ["no content type", { headers: { "content-type": undefined } }, 415, "INVALID_REQUEST"],
    ["a look-alike content type", { headers: { "content-type": "application/jsonp" } }, 415, "INVALID_REQUEST"],
  ])("%s", async (_what, options, status, code) => {
    const answer = await raw(await open(), "/rpc", options);
    expect({ status: answer.status, type: answer.headers["content-type"] }).toEqual({
      status,
      type: "application/json",
    });
    expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: "2.0", id: null, error: { data: { code } } });
    if (status === 401) expect(answer.headers["www-authenticate"]).toBe("Bearer");
    if (status === 421) expect(answer.text).toContain("Use the address that the server printed");
    if (status === 415) expect(answer.text).toContain("Content-Type: application/json");
    if (status === 405) expect(answer.headers.allow).toBe("POST");
  });

  test("a body that is larger than the limit, by its header and by its bytes", async () => {
    const server = await open({ config: { limits: { ...defaultConfig.limits, requestBytes: 1_000 } } });
    const text = JSON.stringify(rpcCall("list_skills", { query: "x".repeat(1_000) }));
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      const answer = await raw(server, "/rpc", { text, headers });
      expect(answer.status).toBe(413);
      expect(answer.message.error?.message).toBe("The request body is too large; the limit is 1000 bytes.");
    }
  });

  test.each(["/rpc", "/mcp", "/skills/alpha/executions"])(
    "a body to %s with so many keys that parsing it would block others, with credentials too",
    async (path) => {
      const server = await open();
      const text = `{${Array.from({ length: 250_000 }, (_, at) => `"k${at}":1`).join(",")}}`;
      const answer = await raw(server, path, { text, headers: withToken });
      // The skill is an instruction, which is said before its body is read.
      expect([400, 413]).toContain(answer.status);
      if (answer.status === 413) expect(answer.text).toContain("too many keys and values; the limit is 200000");
      else expect(path).toBe("/skills/alpha/executions");
    },
  );

  test.each(["/rpc", "/mcp"])(
    "a body to %s without credentials of which the parsing would block others",
    async (path) => {
      const server = await open();
      const text = JSON.stringify(rpcCall("list_skills", { query: "x".repeat(600 * 1024) }));
      const accept = "application/json, text/event-stream";
      expect((await raw(server, path, { text, headers: { accept } })).status).toBe(413);
      expect((await raw(server, path, { text, headers: { accept, ...withToken } })).status).not.toBe(413);
    },
  );

  test("a body to /mcp that is larger than the configured limit", async () => {
    const server = await open({ config: { limits: { ...defaultConfig.limits, requestBytes: 1_000 } } });
    const text = JSON.stringify(rpcCall("tools/list", { query: "x".repeat(1_000) }));
    expect((await raw(server, "/mcp", { text, headers: withToken })).status).toBe(413);
  });

  test("a batch to /mcp that is longer than the limit", async () => {
    const server = await open({ config: { limits: { ...defaultConfig.limits, batch: 2 } } });
    const batchOf = (length: number) => Array.from({ length }, (_, id) => rpcCall("tools/list", undefined, id));
    const headers = { ...withToken, accept: "application/json, text/event-stream" };
    expect((await raw(server, "/mcp", { body: batchOf(2), headers })).status).toBe(200);
    const answer = await raw(server, "/mcp", { body: batchOf(3), headers });
    expect(answer.status).toBe(400);
    expect(answer.message.error?.message).toBe("The batch has 3 messages; the limit is 2. Send several batches.");
  });

  test.each(["/rpc/../rpc", "/./rpc", "/%2e%2e/rpc", "/a/%2frpc", "/a\\rpc", "/a//rpc", "/rpc#", "/%00"])(
    "a target that could be read as another path: %s",
    async (path) => {
      const answer = await raw(await open(), path);
      expect([400, 404]).toContain(answer.status);
      expect(errorOf(answer)).toMatchObject({ code: "INVALID_REQUEST" });
    },
  );

  test("two Host lines", async () => {
    const server = await open();
    const { port } = new URL(server.url);
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      socket.on("close", () => resolve(text));
      socket.end(`GET /x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 4(?:00|21) /);
  });

  test("headers that are too long get a body with the reason", async () => {
    const answer = await raw(await open(), "/rpc", { headers: { "x-long": "x".repeat(20_000) } });
    expect(answer.status).toBe(431);
    expect(errorOf(answer)).toMatchObject({ code: "INVALID_REQUEST" });
  });
});

describe("replies of /rpc", () => {
  test("are 200 also for errors, with the id of the request", async () => {
    const server = await open();
    const answer = await server.get("/rpc", {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8" },
      body: JSON.stringify(rpcCall("describe_skill", { name: "alhpa" }, "i")),
    });
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await answer.json()).toMatchObject({ id: "i", error: { data: { code: "SKILL_NOT_FOUND" } } });
  });

  test("name the nearest parameter for one that does not exist", async () => {
    expect(await (await open()).rpc(rpcCall("list_skills", { limt: 1 }))).toMatchObject({
      error: { code: -32602, data: { code: "VALIDATION_ERROR", hint: "Did you mean limit?" } },
    });
  });

  test.each([[[]], [["summary"]], [[{}, 1]]])("refuse parameters by position, %j", async (params) => {
    const server = await open();
    await server.rpc(rpcCall("list_skills"));
    for (const method of ["list_skills", "load_skills_protocol_guide"]) {
      const call = { jsonrpc: "2.0", id: 1, method, params };
      const error = { code: -32602, data: { code: "VALIDATION_ERROR" } };
      expect(await server.rpc(call)).toMatchObject({ id: 1, error });
      expect(await server.rpc([call])).toMatchObject([{ id: 1, error }]);
      expect(
        (
          await server.get("/rpc", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ ...call, id: undefined }),
          })
        ).status,
      ).toBe(204);
    }
  });

  test.each([
    ["no JSON", "{", -32700],
    ["no UTF-8", Buffer.from([0x22, 0xff, 0x22]), -32700],
    ["nothing", "", -32700],
    ["an empty batch", "[]", -32600],
    ["a batch of 21", JSON.stringify(Array(21).fill(rpcCall("list_skills"))), -32600],
    ["100,000 levels", `${"[".repeat(100_000)}${"]".repeat(100_000)}`, -32600],
  ])("are one error with the id null for %s", async (_what, text, code) => {
    const answer = await raw(await open(), "/rpc", { text, headers: withToken });
    expect(answer.status).toBe(200);
    const message = JSON.parse(answer.text) as object | object[];
    expect(Array.isArray(message) ? message[0] : message).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
  });

  test.each([
    ["run_code", { language: "python", code: "", args: { a: "DEEP" } }],
    ["list_skills", { namespace: "DEEP" }],
    ["list_skills", { unknown: { a: "DEEP" } }],
  ])("deep parameters of %s %j are refused, alone and in a batch, and the server goes on", async (method, params) => {
    const server = await open({ runs: openMemoryRuns(transportScript).runs });
    const levels = '{"a":'.repeat(50_000) + "1" + "}".repeat(50_000);
    const call = JSON.stringify(rpcCall(method, params)).replace('"DEEP"', levels);
    const error = { data: { code: "VALIDATION_ERROR" } };
    const alone = await raw(server, "/rpc", { text: call, headers: withToken });
    expect(JSON.parse(alone.text)).toMatchObject({ id: 1, error });
    const batch = await raw(server, "/rpc", { text: `[${call}]`, headers: withToken });
    expect(JSON.parse(batch.text)).toMatchObject([{ id: 1, error }]);
    expect(await server.rpc(rpcCall("list_skills"))).toHaveProperty("result");
  });

  test("a batch is answered in order, without its notifications", async () => {
    const slow = { jsonrpc: "2.0", id: 1, method: "describe_skill", params: { name: "alpha" } };
    const batch = [slow, { jsonrpc: "2.0", method: "list_skills" }, rpcCall("list_skills", {}, 2), 7];
    expect(await (await open()).rpc(batch)).toMatchObject([{ id: 1 }, { id: 2 }, { id: null }]);
  });

  test("notifications get 204 without a body; those that execute are refused", async () => {
    const server = await open();
    const post = (message: object): Promise<Response> =>
      server.get("/rpc", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(message),
      });
    const answer = await post({ jsonrpc: "2.0", method: "create_blob", params: { content: "a", kind: "text/plain" } });
    expect([answer.status, await answer.text()]).toEqual([204, ""]);
    expect((await post([{ jsonrpc: "2.0", method: "list_skills" }])).status).toBe(204);
    expect(await (await post({ jsonrpc: "2.0", method: "run_code", params: {} })).json()).toMatchObject({
      id: null,
      error: { code: -32600, message: "run_code is not a notification: send an id, and read the result." },
    });
  });
});

describe("callers", () => {
  const token = tokenOf("ci");

  test("see only their skills and tools; others do not exist", async () => {
    const server = await open({
      callers: [callerConfig("ci", { skills: ["sales.*"], tools: ["list_skills", "describe_skill"] })],
    });
    expect(await server.rpc(rpcCall("list_skills"), { token })).toMatchObject({
      result: { skills: [{ name: "sales.leads" }, { name: "skills.protocol.guide" }] },
    });
    expect(await server.rpc(rpcCall("describe_skill", { name: "alpha" }), { token })).toMatchObject({
      error: { data: { code: "SKILL_NOT_FOUND" } },
    });
    expect(
      await server.rpc(rpcCall("read_skill_file", { name: "sales.leads", path: "SKILL.md" }), { token }),
    ).toMatchObject({ error: { data: { code: "METHOD_NOT_FOUND" } } });
  });

  test("without credentials see public skills only, also after the access of one has been listed for others", async () => {
    const access = { ...defaultConfig.access, public: ["alpha"], restricted: ["beta"] };
    const server = await open({ config: { access } });
    const list = rpcCall("list_skills");
    expect(await server.rpc(list)).toMatchObject({ result: { skills: { length: 4 } } });
    for (let time = 0; time < 2; time++)
      expect(await server.rpc(list, { token: null })).toMatchObject({
        result: { skills: [{ name: "alpha" }, { name: "skills.protocol.guide" }] },
      });
    expect(await server.rpc(rpcCall("run_code", { language: "python", code: "" }), { token: null })).toMatchObject({
      error: { data: { code: "METHOD_NOT_FOUND" } },
    });
  });

  test("own their blobs", async () => {
    const server = await open({ callers: [callerConfig("ci")] });
    const { result } = (await server.rpc(rpcCall("create_blob", { content: "mine", kind: "text/plain" }))) as {
      result: { blob_id: string };
    };
    const read = rpcCall("read_blob", { blob_id: result.blob_id });
    expect(await server.rpc(read)).toMatchObject({ result: { content: "mine" } });
    expect(await server.rpc(read, { token })).toMatchObject({ error: { data: { code: "BLOB_NOT_FOUND" } } });
  });

  test("have one limit for all of their tokens, also for one that comes later, and a token that is gone is refused", async () => {
    const limits = { requestsPerMinute: 3, concurrentRequests: 9 };
    const withToken = (token: string) => callerConfig("ci", { limits, tokenDigest: toTokenDigest(tokenOf(token)) });
    const server = await open({ callers: [withToken("one")] });
    const statusOf = async (token: string) =>
      (await server.get("/.well-known/skill-sharing", { token: tokenOf(token) })).status;
    expect(await statusOf("one")).toBe(200);
    expect(server.replaceCallers({ callers: [withToken("one"), withToken("two")], shares: [] })).toEqual(["local"]);
    expect([await statusOf("two"), await statusOf("one"), await statusOf("two")]).toEqual([200, 200, 429]);
    expect(server.replaceCallers({ callers: [withToken("two")], shares: [] })).toEqual(["ci"]);
    expect([await statusOf("one"), await statusOf("two")]).toEqual([401, 429]);
  });

  test("over their rate get 429 with Retry-After; others go on", async () => {
    const limits = { requestsPerMinute: 2, concurrentRequests: 9 };
    const server = await open({ callers: [callerConfig("ci", { limits })] });
    for (let time = 0; time < 2; time++) expect((await server.get("/none", { token })).status).toBe(404);
    const answer = await server.get("/rpc", { method: "POST", token });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "30"]);
    expect(await answer.json()).toMatchObject({
      error: { code: -32000, data: { code: "RATE_LIMITED", retryable: true } },
    });
    expect((await server.get("/none")).status).toBe(404);
  });

  test.each(["/rpc", "/mcp"])("each call of a batch at %s counts against the rate", async (path) => {
    const limits = { requestsPerMinute: 10, concurrentRequests: 9 };
    const server = await open({ callers: [callerConfig("ci", { limits })] });
    const batch = (calls: number): string =>
      JSON.stringify(Array.from({ length: calls }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })));
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const send = async (calls: number): Promise<Response> =>
      await server.get(path, { method: "POST", token, headers, body: batch(calls) });
    expect((await send(6)).status).toBe(200);
    const refused = await send(6);
    // The request itself was counted, and none of its calls were made.
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "12"]);
    expect((await send(3)).status).toBe(200);
    expect((await send(1)).status).toBe(429);
  });

  test("guessing tokens is limited by address", async () => {
    const limits = { requestsPerMinute: 3, concurrentRequests: 9 };
    const server = await open({ config: { anonymous: { ...defaultConfig.anonymous, limits } } });
    const guess = (): Promise<Response> => server.get("/none", { token: "guess" });
    for (let time = 0; time < 3; time++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
    expect((await server.get("/none")).status).toBe(404);
  });
});

describe("listening", () => {
  test("on an address that others reach is refused without callers", async () => {
    const server = await open();
    const session = { catalog: server.mcpApp.catalog, directory: undefined, problems: [], close: () => undefined };
    await expect(serveHttp(server.app, session, defaultConfig, { host: "0.0.0.0", port: 0 })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: expect.stringContaining("--config") as string,
    });
  });

  test("on a port in use is refused with what to do", async () => {
    const server = await open();
    const { port } = new URL(server.url);
    const session = { catalog: server.mcpApp.catalog, directory: undefined, problems: [], close: () => undefined };
    await expect(
      serveHttp(server.app, session, defaultConfig, { host: "127.0.0.1", port: Number(port) }),
    ).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: `Cannot listen on 127.0.0.1:${port}: port ${port} is in use; choose another one with --port, or 0 for any free one.`,
    });
  });
});

describe("stopping", () => {
  test("lets a call end that is running, and then accepts no connection", async () => {
    let finish = (): void => undefined;
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => (start = resolve));
    const server = await open({
      wrap: () => ({
        call: () => {
          start();
          return new Promise((resolve) => (finish = () => resolve({ skills: [] })));
        },
      }),
    });
    const answer = server.rpc(rpcCall("describe_skill", { name: "alpha" }));
    await started;
    const closed = server.close();
    finish();
    expect(await answer).toMatchObject({ result: { skills: [] } });
    expect(await closed).toBe(0);
    await expect(server.get("/none")).rejects.toThrow();
  });

  test("cancels after its time what still runs, and says so in the answer", async () => {
    const clock = manualClock();
    const { wrap, started } = waitingToolbox();
    const server = await open({ clock, wrap });
    const answer = server.rpc(rpcCall("execute_skill", { name: "alpha" }));
    await started;
    const closed = server.close();
    clock.pass(10_000);
    expect(await answer).toMatchObject({
      error: { message: "The server is being stopped; the call was cancelled.", data: { code: "RUNTIME_BUSY" } },
    });
    clock.pass(1_000);
    expect(await closed).toBe(1);
  });

  test("a client that leaves cancels its call", async () => {
    const { wrap, started, cancelled } = waitingToolbox();
    const server = await open({ wrap });
    const headers = { ...withToken, "content-type": "application/json" };
    const sent = request(`${server.url}/rpc`, { method: "POST", headers });
    sent.on("error", () => undefined).end(JSON.stringify(rpcCall("execute_skill", { name: "alpha" })));
    await started;
    sent.destroy();
    await cancelled;
  });
});
