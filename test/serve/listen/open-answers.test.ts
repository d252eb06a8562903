import { once } from "node:events";
import { type Socket, connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { callerConfig, tokenOf } from "../caller-config.ts";
import { type OpenHttp, localToken, openHttp, rpcCall } from "../open-http.ts";
import { defaultServerLimits } from "../../../src/serve/config.ts";

/** More than the buffers of a connection hold. */
const skills = { "/skills/alpha/SKILL.md": `---\nname: alpha\ndescription: Is long.\n---\n${"x".repeat(250_000)}` };

interface Pipelining {
  readonly client: Socket;
  /** Statuses of the requests that have ended. */
  readonly ended: number[];
  readonly server: OpenHttp;
}

/** A client that sends requests on one connection and reads no answer. */
async function pipeline(count: number, limits = defaultServerLimits): Promise<Pipelining> {
  const ended: number[] = [];
  const server = await openHttp({ skills, config: { limits }, requestEnded: ({ status }) => void ended.push(status) });
  onTestFinished(async () => {
    await server.close();
  });
  return { client: await sendTo(server, count), ended, server };
}

async function sendTo({ url }: OpenHttp, count: number): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const client = connect(Number(port), hostname);
  onTestFinished(() => void client.destroy());
  await once(client, "connect");
  client.pause();
  const body = JSON.stringify(rpcCall("read_skill_file", { name: "alpha", path: "SKILL.md" }));
  const head = `POST /rpc HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${localToken}`;
  const request = `${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  client.write(request.repeat(count));
  return client;
}

/** Calls that are being answered. */
async function activeIn(server: OpenHttp): Promise<number> {
  const metrics = await (await server.get("/metrics")).text();
  return Number(/active_requests\{http_request_method="POST",url_scheme="http"\} (\d+)/.exec(metrics)?.[1]);
}

test("a client that sends 100 requests on one connection and reads nothing does not keep others of its caller out", async () => {
  const { server } = await pipeline(100);
  for (let time = 0; time < 20; time++)
    expect(await server.rpc(rpcCall("list_skills"))).toMatchObject({ result: { skills: [{}, {}] } });
});

test("when clients leave, every request whose answer waits on their connections has ended", async () => {
  const { client, ended, server } = await pipeline(100);
  const clients = [client];
  // Node reads no more from a connection once an answer waits on it: how many requests were read before is chance, but at least one.
  await vi.waitFor(async () => {
    clients.push(await sendTo(server, 100));
    expect(await activeIn(server)).toBeGreaterThan(10);
  }, 10_000);
  for (const one of clients) one.destroy();
  await vi.waitFor(async () => expect(await activeIn(server)).toBe(0), 10_000);
  expect(ended.length).toBeGreaterThan(10);
});

test("a client that reads nothing is disconnected", async () => {
  const { client, server } = await pipeline(16, { ...defaultServerLimits, headerSeconds: 0.2, requestSeconds: 0.2 });
  client.on("error", () => undefined);
  await vi.waitFor(async () => expect(await activeIn(server)).toBe(0), 10_000);
});

test("open event streams of a caller leave its requests free", async () => {
  const limits = { requestsPerMinute: 1_000, concurrentRequests: 2 };
  const server = await openHttp({ callers: [callerConfig("ada", { limits })] });
  onTestFinished(async () => {
    await server.close();
  });
  const streams = await Promise.all([1, 2, 3].map(() => server.get("/events", { token: tokenOf("ada") })));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const listed = await server.rpc(rpcCall("list_skills"), { token: tokenOf("ada") });
  expect(listed).toMatchObject({ result: {} });
  for (const { body } of streams) await body?.cancel();
});
