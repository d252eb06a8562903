import { Validator } from "@seriousme/openapi-schema-validator";
import { afterEach, describe, expect, test } from "vitest";
import type { ServeContext } from "../../../src/serve/serve-context.ts";
import { createRoutes } from "../../../src/serve/serve-http.ts";
import { type OpenHttp, openHttp, rpcCall } from "../open-http.ts";
import { describeServer, openValidators } from "./described-server.ts";
import { toolNames } from "../../../src/wire/tools.ts";

const document = describeServer();
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

let server: OpenHttp | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

test("the document is valid OpenAPI 3.1", async () => {
  const { valid, errors } = await new Validator().validate({ ...structuredClone(document) });
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
});

test("operation ids are unique", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

describe("every schema compiles", () => {
  const validatorOf = openValidators(document);
  test.each(Object.entries(document.components.schemas))("%s", (_name, schema) => {
    expect(validatorOf(schema)).toBeTypeOf("function");
  });
});

test("every parameter of a path is described", () => {
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(described.map(({ name }) => name)).toEqual(named);
  }
});

test("every route of the server is described, and everything described is a route", () => {
  const never = new AbortController().signal;
  const nothing = (): void => undefined;
  const catalog = { ready: Promise.resolve(), onChange: () => nothing };
  const context = { app: {}, config: { limits: {} }, session: { catalog }, draining: never, onRun: () => nothing };
  const routes = createRoutes(context as unknown as ServeContext);
  const served = routes.map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
  const described = operations.map(({ method, path }) => `${method} ${path}`);
  expect([...new Set([...served, "post /mcp"])].sort()).toEqual(described.sort());
});

test("each tool has a call, and exactly one call fits a request", () => {
  const validatorOf = openValidators(document);
  const schemas = document.components.schemas;
  for (const name of toolNames) expect(Object.keys(schemas)).toContain(`${name}.call`);
  const isRequest = validatorOf(schemas["RpcRequests"]!);
  expect(isRequest(rpcCall("list_skills", { limit: 1 }))).toBe(true);
  expect(isRequest([rpcCall("list_skills"), rpcCall("describe_skill", { name: "a" })])).toBe(true);
  expect(isRequest(rpcCall("describe_skill"))).toBe(false);
  expect(isRequest(rpcCall("list_skills", { limit: "1" }))).toBe(false);
  expect(isRequest(rpcCall("drop_table"))).toBe(false);
  expect(isRequest([])).toBe(false);
});

test("the server serves it to everybody, and a client that has it is answered so", async () => {
  server = await openHttp();
  const answer = await server.get("/openapi.json", { token: null });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("cache-control")).toBe("public, no-cache");
  expect(await answer.json()).toEqual({
    ...document,
    info: { ...(document as unknown as { info: object }).info, version: "0.0.0-test" },
    servers: [{ url: server.url }],
  });
  const etag = answer.headers.get("etag")!;
  expect((await server.get("/openapi.json", { headers: { "if-none-match": etag } })).status).toBe(304);
});
