import { afterEach, expect, test } from "vitest";
import { createDeferred } from "../../../src/base/promises.ts";
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
