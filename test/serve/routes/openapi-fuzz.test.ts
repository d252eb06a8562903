import { request as sendRequest } from "node:http";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toTokenDigest } from "../../../src/wire/http.ts";
import { callerConfig, tokenOf } from "../caller-config.ts";
import { type Served, action, instruction, openServed } from "../open-served.ts";
import type { RawAnswer } from "../send-raw.ts";
import { arbitraryOf, arbitraryText, deepen } from "./arbitrary-json.ts";
import { type OpenApiOperation, describeServer, openValidators } from "./described-server.ts";
import { defaultConfig } from "../../../src/serve/config.ts";
import { toolNames } from "../../../src/wire/tools.ts";

/** Requests for each operation. More by `ACP_SKILLS_FUZZ_RUNS`. */
const numRuns = Number(process.env["ACP_SKILLS_FUZZ_RUNS"] ?? 60);

const document = describeServer();
const { schemas } = document.components;
const validatorOf = openValidators(document);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
);

const unlimited = { requestsPerMinute: 1e9, concurrentRequests: 1e6 };
const shareToken = "share-token-0123456789abcdefghij";

async function openTarget(): Promise<Served> {
  return await openServed({
    skills: { ...instruction("alpha"), ...action("sum.up"), ...instruction("hidden") },
    config: {
      access: { default: "public", public: [], restricted: [], private: ["hidden"] },
      callers: [callerConfig("ci", { limits: unlimited })],
      anonymous: { tools: toolNames, limits: unlimited },
      shares: [{ name: "s", tokenDigest: toTokenDigest(shareToken), skills: ["*"] }],
      limits: { ...defaultConfig.limits, requestBytes: 1024 * 1024 },
    },
  });
}

interface Sent {
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | undefined;
}

const pathTexts: Readonly<Record<string, readonly string[]>> = {
  slug: ["alpha", "sum-up", "hidden", "none"],
  id: ["run_0000000001", "run_x"],
  token: [shareToken, "wrong"],
  artifact: ["alpha-00000000000000000000000000000000.tar.gz", "alpha"],
};
const odd = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: "grapheme", maxLength: 10 }));

/** Requests that fit the operation, nearly fit it, or do not. */
function arbitraryRequest(path: string, { parameters = [], requestBody }: OpenApiOperation): fc.Arbitrary<Sent> {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const segments = fc.tuple(
    ...inPath.map(({ name }) => fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...pathTexts[name]!) }, odd)),
  );
  const query = fc.dictionary(
    fc.oneof(fc.constantFrom("x", ...inQuery.map(({ name }) => name)), odd),
    fc.oneof(fc.constantFrom("api", "5", "0", "1e3", "-1", "git-upload-pack"), odd),
    { maxKeys: 3 },
  );
  // Nothing is answered without them.
  const required = Object.fromEntries(
    inQuery.flatMap(({ name, required: isRequired, schema }) => (isRequired === true ? [[name, schema.const]] : [])),
  ) as Record<string, string>;
  const [type, { schema } = { schema: undefined }] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = schema === undefined ? fc.constant(undefined) : arbitraryText(arbitraryOf(schema, schemas));
  return fc
    .record({ segments, query, body, headers: arbitraryHeaders(type), isComplete: fc.boolean() })
    .map(({ segments: given, query: some, body: text, headers, isComplete }) => {
      const asked = isComplete ? { ...some, ...required } : some;
      const filled = inPath.reduce((left, { name }, at) => left.replace(`{${name}}`, encodeOdd(given[at]!)), path);
      const search = Object.entries(asked).map(([name, value]) => `${encodeOdd(name)}=${encodeOdd(value)}`);
      return { target: filled + (search.length > 0 ? `?${search.join("&")}` : ""), headers, body: text };
    });
}

function arbitraryHeaders(expected = "application/json"): fc.Arbitrary<Sent["headers"]> {
  const authorizations = [undefined, `Bearer ${tokenOf("ci")}`, "Bearer wrong", "Basic YTpi", "Bearer", "bearer  x y"];
  const types = [
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "application/json, text/html",
    "",
  ];
  return fc
    .tuple(
      fc.oneof(
        { weight: 2, arbitrary: fc.constantFrom(...authorizations.slice(0, 2)) },
        fc.constantFrom(...authorizations),
      ),
      fc.oneof({ weight: 3, arbitrary: fc.constant(expected) }, fc.constantFrom(...types)),
      fc.constantFrom("application/json, text/event-stream", "*/*", "text/html"),
      fc.array(
        fc.constantFrom<readonly [string, string]>(
          ["if-none-match", "*"],
          ["if-none-match", `"${"x,".repeat(100)}"`],
          ["x-request-id", "a b"],
          ["x-request-id", "dup"],
          ["content-type", "text/plain"],
          ["authorization", "Bearer twice"],
          ["last-event-id", "0-0"],
          ["origin", "https://evil.example"],
          ["host", "evil.example"],
          ["accept-encoding", "gzip;q=NaN"],
          ["range", "bytes=0-1"],
          ["mcp-protocol-version", "1900-01-01"],
        ),
        { maxLength: 2 },
      ),
    )
    .map(([authorization, type, accept, more]) => [
      ...(authorization === undefined ? [] : [["authorization", authorization] as const]),
      ["content-type", type],
      ["accept", accept],
      ...more,
    ]);
}

function encodeOdd(value: string): string {
  // A lone surrogate has no encoding.
  return encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, ""));
}

/** The answer; of a stream, its start. */
function send(url: string, method: string, { target, headers, body }: Sent): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const hosts = headers.some(([name]) => name === "host") ? [] : ["host", host];
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      { hostname, port, path: target, method, agent: false, setHost: false, headers: [...hosts, ...headers.flat()] },
      (response) => {
        const answer = { status: response.statusCode ?? 0, headers: response.headers };
        const chunks: Buffer[] = [];
        const done = (): void => resolve({ ...answer, text: Buffer.concat(chunks).toString("utf8") });
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          if (answer.headers["content-type"] !== "text/event-stream" || method !== "GET") return;
          done();
          response.destroy();
        });
        response.once("end", done).once("error", reject);
      },
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

/** Fails unless the answer is one that the document describes. */
function expectDescribed({ responses }: OpenApiOperation, { status, headers, text }: RawAnswer): void {
  const described = responses[status] ?? (status >= 400 && status < 500 ? responses["4XX"] : undefined);
  expect(described, `status ${status} is described: ${text.slice(0, 300)}`).toBeDefined();
  const { content } = described!;
  if (content === undefined) {
    expect(text).toBe("");
    return;
  }
  const type = headers["content-type"] ?? "";
  expect(Object.keys(content)).toContain(type);
  const schema = content[type]?.schema;
  if (schema === undefined || type !== "application/json") return;
  const validate = validatorOf(schema);
  const isValid = validate(JSON.parse(text));
  expect(validate.errors ?? [], text.slice(0, 500)).toEqual([]);
  expect(isValid).toBe(true);
}

/** Fails unless every result is one that its tool describes. */
function expectResults(body: string | undefined, text: string): void {
  const asked = [JSON.parse((body ?? "").replace(/^\ufeff/, ""))].flat() as unknown[];
  const answered = [JSON.parse(text)].flat() as { readonly result?: unknown }[];
  const calls = asked.filter((call) => typeof call === "object" && call !== null && "id" in call);
  if (calls.length !== answered.length) return;
  for (const [at, { result }] of answered.entries()) {
    if (result === undefined) continue;
    const validate = validatorOf(schemas[`${(calls[at] as unknown as { readonly method: string }).method}.output`]!);
    validate(result);
    expect(validate.errors ?? []).toEqual([]);
  }
}

describe("whatever is sent, the answer is one that the document describes, and no failure of ours", () => {
  test.each(operations)("$method $path", async ({ path, method, operation }) => {
    const { url, get } = await openTarget();
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(arbitraryRequest(path, operation), async (sent) => {
        const answer = await send(url, method, sent);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        expect([500, 501, 502, 504]).not.toContain(answer.status);
        expectDescribed(operation, answer);
        if (path === "/rpc" && answer.status === 200 && !answer.text.includes('"id":null'))
          expectResults(sent.body, answer.text);
      }),
      { numRuns, timeout: 10_000 },
    );
    expect((await get("/healthz")).status).toBe(200);
    // Requests that the server does not let through test nothing else.
    expect(
      [...statuses.keys()].some((status) => status <= 400 || status === 404),
      [...statuses].join(" "),
    ).toBe(true);
  });
});

test.each(toolNames)("every parameter of %s may be deep: each call is answered", async (tool) => {
  const { url, get } = await openTarget();
  const { properties } = schemas[`${tool}.input`] as { readonly properties?: object };
  for (const name of [...Object.keys(properties ?? {}), "unknown"]) {
    const body = `{"jsonrpc":"2.0","id":1,"method":"${tool}","params":{"${name}":${deepen("1", '{"a":', "}")}}}`;
    const sent = await send(url, "POST", { target: "/rpc", headers: [["content-type", "application/json"]], body });
    expect(JSON.parse(sent.text), name).toMatchObject({ id: 1, error: { data: { code: "VALIDATION_ERROR" } } });
  }
  expect((await get("/healthz")).status).toBe(200);
});
