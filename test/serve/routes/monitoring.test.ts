import { afterEach, expect, test } from "vitest";
import { createDeferred } from "../../../src/base/promises.ts";
import { monitoringRoutes } from "../../../src/serve/routes/monitoring.ts";
import type { HttpExchange, ServeContext } from "../../../src/serve/serve-context.ts";
import { type OpenHttp, openHttp } from "../open-http.ts";

let server: OpenHttp | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function get(path: string): Promise<unknown> {
  const response = await server!.get(path);
  return [response.status, (await response.json()) as unknown];
}

test("a server is ready once its skills were read, and lives before that", async () => {
  const { promise, resolve } = createDeferred();
  server = await openHttp({ reading: promise });
  expect(await get("/healthz")).toEqual([200, { status: "ok" }]);
  expect(await get("/readyz")).toEqual([503, { status: "not ready", reason: "The skills are still being read." }]);
  resolve();
  await promise;
  expect(await get("/readyz")).toEqual([200, { status: "ok" }]);
});

test("a server that is stopping is not ready, and lives", async () => {
  const stop = new AbortController();
  const context = { session: { catalog: { ready: Promise.resolve() } }, draining: stop.signal };
  const routes = monitoringRoutes(context as unknown as ServeContext);
  await context.session.catalog.ready;
  stop.abort();
  const answers: Record<string, unknown> = {};
  for (const { path, answer } of routes.filter((route) => route.path !== "/metrics")) {
    const sendJson = (status: number, body: object): void => void (answers[path] = [status, body]);
    await answer({ sendJson } as unknown as HttpExchange);
  }
  expect(answers).toEqual({
    "/healthz": [200, { status: "ok" }],
    "/readyz": [503, { status: "not ready", reason: "The server is stopping." }],
  });
});
