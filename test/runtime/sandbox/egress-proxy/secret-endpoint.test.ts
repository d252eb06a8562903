import { once } from "node:events";
import { type IncomingMessage, request as openRequest } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { SkillsError } from "../../../../src/base/errors.ts";
import { openEgressProxy } from "../../../../src/runtime/sandbox/egress-proxy.ts";
import { openSecretEndpoint } from "../../../../src/runtime/sandbox/egress-proxy/secret-endpoint.ts";
import type { SecretAnswer, SecretRequest } from "../../../../src/runtime/sandbox.ts";

const url = "https://api.github.com/user";
const ok: SecretAnswer = { status: 200, headers: {}, body: Buffer.from("ok") };

/** The listener of a run, and a client that sends exactly these headers. */
async function open(
  answer: (request: SecretRequest, signal: AbortSignal) => Promise<SecretAnswer>,
  uses = ["GH_TOKEN@api.github.com"],
) {
  const over = new AbortController();
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const endpoint = openSecretEndpoint(answer, uses, over.signal);
  const proxy = openEgressProxy(server, { network: [], clock: systemClock, log: silentLog, endpoint });
  onTestFinished(() => proxy.close());
  const ask = async (
    headers: Readonly<Record<string, string>>,
    { method = "GET", path = "/fetch", body = "" } = {},
  ) => {
    const sent = openRequest({ port, host: "127.0.0.1", path, method, headers }).end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() };
  };
  return { ask, port, over };
}

test("a request without a URL or, of several secrets, a name is answered with what to send", async () => {
  const { ask } = await open(() => Promise.resolve(ok), ["A@a.example", "B@b.example"]);
  for (const headers of [{}, { "acp-skills-url": url }, { "acp-skills-secret": "A" }] as const)
    expect(await ask(headers)).toMatchObject({
      status: 400,
      headers: { "acp-skills-error": "VALIDATION_ERROR" },
      text: "Send the headers acp-skills-url: https://host/path and acp-skills-secret: A or B.\n",
    });
});

test("the answer has status, headers and body, without those of the connection", async () => {
  const headers = {
    "x-a": "1",
    "transfer-encoding": "gzip",
    connection: "x-a",
    "content-length": "5",
    "content-encoding": "",
  };
  const { ask } = await open(() => Promise.resolve({ status: 302, headers, body: Buffer.from("elsewhere") }));
  const answer = await ask({ "acp-skills-url": url });
  expect(answer).toMatchObject({ status: 302, text: "elsewhere", headers: { "x-a": "1" } });
  expect(answer.headers["content-encoding"]).toBeUndefined();
});

test("clients that use the listener as proxy for everything reach the endpoint, too", async () => {
  const { ask, port } = await open(() => Promise.resolve(ok));
  const path = `http://127.0.0.1:${port}/fetch`;
  expect(await ask({ "acp-skills-url": url }, { path })).toMatchObject({ status: 200, text: "ok" });
  for (const other of ["/fetch?x", "/fetch/", "/", `http://127.0.0.1:${port}/`, "http://example.org/fetch"])
    expect((await ask({ "acp-skills-url": url }, { path: other })).text).not.toBe("ok");
});

test("an unknown failure says nothing of itself", async () => {
  const { ask } = await open(() => Promise.reject(new Error("the value ghp_x in /home/me")));
  expect(await ask({ "acp-skills-url": url })).toMatchObject({ status: 502, text: "The request failed.\n" });
});

test.each([
  ["RATE_LIMITED", 429],
  ["EXECUTION_TIMEOUT", 504],
  ["ENDPOINT_UNREACHABLE", 502],
] as const)("a refusal with %s has the status %i", async (code, status) => {
  const { ask } = await open(() => Promise.reject(new SkillsError(code, "No.")));
  expect(await ask({ "acp-skills-url": url })).toMatchObject({
    status,
    text: "No.\n",
    headers: { "acp-skills-error": code },
  });
});

test("a request is given up when its script leaves, and when the run ends", async () => {
  const signals: AbortSignal[] = [];
  let arrived = (): void => undefined;
  const { port, ask, over } = await open((_request, signal) => {
    signals.push(signal);
    arrived();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  });
  const reached = new Promise<void>((resolve) => (arrived = resolve));
  const sent = openRequest({ port, host: "127.0.0.1", path: "/fetch", headers: { "acp-skills-url": url } }).end();
  sent.on("error", () => undefined);
  await reached;
  const left = once(signals[0]!, "abort");
  sent.destroy();
  await left;
  const again = new Promise<void>((resolve) => (arrived = resolve));
  const asking = ask({ "acp-skills-url": url });
  await again;
  over.abort(new Error("The run is over."));
  expect(await asking).toMatchObject({ status: 502 });
});
