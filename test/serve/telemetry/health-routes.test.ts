import { Hono } from "hono";
import { expect, test } from "vitest";
import { createDeferred } from "../../../src/base/promises.ts";
import type { HttpDoor, HttpEnv } from "../../../src/serve/http-door.ts";
import { mountHealth } from "../../../src/serve/telemetry/health-routes.ts";

function mounted(facts: { readonly ready: Promise<unknown>; readonly draining: AbortSignal }) {
  const routes = new Hono<HttpEnv>();
  const door = { session: { catalog: { ready: facts.ready } }, draining: facts.draining };
  mountHealth(routes, door as unknown as HttpDoor);
  return async (path: string) => {
    const response = await routes.request(path);
    return [response.status, (await response.json()) as unknown];
  };
}

test("a server is ready once its skills were read, and lives before that", async () => {
  const { promise, resolve } = createDeferred();
  const get = mounted({ ready: promise, draining: new AbortController().signal });
  expect(await get("/healthz")).toEqual([200, { status: "ok" }]);
  expect(await get("/readyz")).toEqual([503, { status: "not ready", reason: "The skills are still being read." }]);
  resolve();
  await promise;
  expect(await get("/readyz")).toEqual([200, { status: "ok" }]);
});

test("a server that is stopping is not ready, and lives", async () => {
  const stop = new AbortController();
  const get = mounted({ ready: Promise.resolve(), draining: stop.signal });
  stop.abort();
  expect(await get("/readyz")).toEqual([503, { status: "not ready", reason: "The server is stopping." }]);
  expect(await get("/healthz")).toEqual([200, { status: "ok" }]);
});
