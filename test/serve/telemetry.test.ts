import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type HttpLogOptions, type RequestRecord, createHttpLog } from "../../src/serve/telemetry.ts";
import { createRequestIds } from "../../src/serve/telemetry.ts";

const answered: RequestRecord = {
  requestId: "r-1",
  method: "GET",
  target: "/skills",
  status: 200,
  ms: 3.21,
  caller: "anonymous",
};

async function openLines(level?: HttpLogOptions["level"]) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, ...(await createHttpLog({ ...(level && { level }), destination })) };
}

test("a line is one JSON object with the time, and no process id or host name", async () => {
  const { lines, requestEnded } = await openLines("debug");
  requestEnded(answered);
  const { time, ...line } = JSON.parse(lines[0]!) as Record<string, unknown>;
  expect(time).toMatch(/^\d{4}-\d\d-\d\dT/);
  expect(line).toEqual({
    level: "debug",
    request_id: "r-1",
    caller: "anonymous",
    method: "GET",
    path: "/skills",
    status: 200,
    ms: 3.2,
    msg: "request",
  });
});

test.each([
  ["a quick answer", { status: 200, ms: 5 }, undefined],
  ["a refusal", { status: 404, ms: 5 }, undefined],
  ["a slow answer", { status: 200, ms: 1_001 }, "info"],
  ["a long stream", { status: 200, ms: 90_000, isStream: true }, undefined],
  ["a failure of ours", { status: 500, ms: 5 }, "error"],
  ["a probe while the server starts", { status: 503, ms: 5, target: "/readyz" }, undefined],
  ["a failed stream", { status: 500, ms: 90_000, isStream: true }, "error"],
])(
  "at the default level, %s is logged only if it says that something is wrong or slow",
  async (_what, facts, level) => {
    const { lines, requestEnded } = await openLines();
    requestEnded({ ...answered, ...facts });
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(
      level === undefined ? [] : [level],
    );
  },
);

test("diagnostics keep their level and their text", async () => {
  const { lines, log } = await openLines("warning");
  log("info", "hidden");
  log("warning", "Root /home/me/skills was not found; is it mounted?");
  log("error", "bad");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { level: "warn", msg: "Root /home/me/skills was not found; is it mounted?" },
    { level: "error", msg: "bad" },
  ]);
});

const placesInMessages: readonly ((token: string) => string)[] = [
  (token) => `Failed: Authorization: Bearer ${token}`,
  (token) => `headers {"authorization":"bearer ${token}"}`,
  (token) => `headers authorization=${token}, host=x`,
  (token) => `GET /s/${token}/.well-known/agent-skills/index.json failed`,
  (token) => `GET https://example.com/S/${token} failed`,
  (token) => `https://me:${token}@example.com/skills`,
  (token) => `https://example.com/skills?type=api&key=${token}#top`,
  (token) => `Basic ${token}`,
];

const placesInTargets: readonly ((token: string) => string)[] = [
  (token) => `/s/${token}/index.json`,
  (token) => `/s/${token}`,
  (token) => `/%73/${token}/index.json`,
  (token) => `/s%2f${token}%2findex.json`,
  (token) => `/%2573/${token}/`,
  (token) => `//s//${token}`,
  (token) => `/x/../s/${token}`,
  (token) => `/skills/${token}`,
  (token) => `/rpc?token=${token}`,
  (token) => `/rpc?${token}`,
  (token) => `/rpc#${token}`,
  (token) => `/${token}?`,
  (token) => `http://example.com/s/${token}/`,
  (token) => `/%zz/${token}`,
  (token) => `/rpc;${token}`,
];

const tokens = fc
  .tuple(fc.uint8Array({ minLength: 16, maxLength: 48 }), fc.constantFrom("hex" as const, "base64url" as const))
  .map(([bytes, encoding]) => Buffer.from(bytes).toString(encoding));

test("no token gets into the log, wherever it stands in a message or a request line", async () => {
  const { lines, log, requestEnded } = await openLines("debug");
  const message = fc.constantFrom(...placesInMessages);
  const target = fc.constantFrom(...placesInTargets);
  fc.assert(
    fc.property(tokens, message, target, (token, toMessage, toTarget) => {
      lines.length = 0;
      log("error", toMessage(token));
      requestEnded({ ...answered, target: toTarget(token) });
      expect(lines).toHaveLength(2);
      expect(lines.join("")).not.toContain(token);
    }),
    { numRuns: 500 },
  );
});

test("paths of ours stay readable", async () => {
  const { lines, requestEnded } = await openLines("debug");
  const paths = ["/.well-known/skill-sharing", "/", "/skills/com.example.rows-clean-v1", "/skills/pdf/files/SKILL.md"];
  for (const target of paths) requestEnded({ ...answered, target });
  expect(lines.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual(paths);
});

test("characters that control a terminal or reorder text are escaped", async () => {
  const { lines, log } = await openLines();
  log("error", "a\u001b[2J\u009b2J\u202eb\nc");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[\x20-\x7e]+\n$/);
});

test("very long and repetitive messages and paths are handled in linear time", async () => {
  const { lines, log, requestEnded } = await openLines("debug");
  for (const part of ["/s/", "?a=", "&", "://", "bearer ", "authorization:", "%2"]) {
    log("error", part.repeat(50_000));
    requestEnded({ ...answered, target: `/${part.repeat(50_000)}` });
  }
  expect(lines).toHaveLength(14);
});

test("the client's request id is used if it is usable and not its token; otherwise ours are unique", () => {
  const requestId = createRequestIds("abc");
  expect(requestId("client-1_x", undefined)).toBe("client-1_x");
  expect(requestId(undefined, undefined)).toBe("abc-1");
  expect(requestId("a\r\nb", undefined)).toBe("abc-2");
  expect(requestId("x".repeat(65), undefined)).toBe("abc-3");
  expect(requestId("secret", "Bearer secret")).toBe("abc-4");
  expect(requestId(["a", "b"], undefined)).toBe("abc-5");
});
