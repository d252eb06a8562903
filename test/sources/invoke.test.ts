import { describe, expect, test } from "vitest";
import { SkillsError } from "../../src/base/errors.ts";
import type { Fetcher, RemoteRequest } from "../../src/sources/fetch.ts";
import { type Invocation, invokeSkill } from "../../src/sources/invoke.ts";
import { manualClock } from "../manual-clock.ts";

const endpoint = "https://example.com/translate";
const invocation: Invocation = {
  endpoint,
  args: { text: "hello" },
  headers: { authorization: "Bearer key" },
  timeoutMs: 60_000,
  maxBytes: 1_000_000,
};

interface Step {
  readonly status?: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  /** After redirects. */
  readonly url?: string;
  readonly error?: SkillsError;
  /** Never answers. */
  readonly hangs?: true;
}

/** A machine that answers one step after the other, the last one again and again; each wait is over at once. */
async function invoke(
  steps: readonly Step[],
  { stopAfter, given = {} }: { stopAfter?: number; given?: Partial<Invocation> } = {},
) {
  const asked: RemoteRequest[] = [];
  const clock = manualClock();
  const caller = new AbortController();
  const fetcher: Pick<Fetcher, "fetch"> = {
    async fetch(request, signal) {
      signal.throwIfAborted();
      asked.push(request);
      if (request.method === "DELETE") return { status: 200, headers: {}, body: new Uint8Array(), url: request.url };
      const step = steps[Math.min(asked.length, steps.length) - 1]!;
      if (asked.length === stopAfter) caller.abort(new Error("stopped"));
      if (step.hangs)
        return await new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        );
      if (step.error) throw step.error;
      const { status = 200, body, text = JSON.stringify(body), headers = {}, url = request.url } = step;
      return { status, headers, body: Buffer.from(text), url };
    },
  };
  let over = 0;
  const end = invokeSkill({ ...invocation, ...given }, { fetcher, clock, now: () => 0 }, caller.signal).finally(
    () => (over += 1),
  );
  end.catch(() => undefined);
  let waited = 0;
  for (let turn = 0; turn < 5_000 && over === 0; turn++) {
    const { pending } = clock;
    await new Promise((resolve) => setImmediate(resolve));
    // Besides the deadline, something is waited for.
    if (pending > 1 || steps.some(({ hangs }) => hangs)) {
      clock.pass(stepMs);
      waited += stepMs;
    }
  }
  return { end: await end.catch((error: unknown) => ({ thrown: String(error) })), asked, waitedMs: waited };
}

const stepMs = 250;
const accepted = { status: 202, body: { execution_id: "e 1", status: "accepted" } };
const running = { body: { execution_id: "e 1", status: "running" } };
const completed = { body: { execution_id: "e 1", status: "completed" } };
const result = {
  body: { execution_id: "e 1", status: "completed", output: { text: "hallo" }, summary: "Translated." },
};
const unreachable = new SkillsError("ENDPOINT_UNREACHABLE", "example.com cannot be asked.");

describe("an invocation", () => {
  test("is posted, followed and read, with credentials", async () => {
    const { end, asked } = await invoke([accepted, running, completed, result]);
    expect(end).toEqual({ type: "completed", output: { text: "hallo" }, summary: "Translated." });
    expect(asked.map(({ method = "GET", url }) => `${method} ${url}`)).toEqual([
      `POST ${endpoint}`,
      `GET ${endpoint}/e%201`,
      `GET ${endpoint}/e%201`,
      `GET ${endpoint}/e%201/result`,
    ]);
    expect(JSON.parse(String(asked[0]?.body))).toEqual({ args: { text: "hello" }, timeout_ms: 60_000 });
    for (const { headers } of asked) expect(headers).toMatchObject({ authorization: "Bearer key" });
  });

  test("follows the URLs that it is given, of the same origin", async () => {
    const body = { ...accepted.body, status_url: "/s/1", result_url: "https://example.com/r/1" };
    const { asked } = await invoke([{ status: 202, body }, completed, result]);
    expect(asked.slice(1).map(({ url }) => url)).toEqual(["https://example.com/s/1", "https://example.com/r/1"]);
  });

  test.each([
    ["status_url", "https://example.org/s"],
    ["result_url", "https://example.com:8443/r"],
    ["status_url", "http://example.com/s"],
    ["result_url", "file:///etc/passwd"],
  ])("sends nothing to a %s of another origin", async (name, url) => {
    const { end, asked } = await invoke([{ status: 202, body: { ...accepted.body, [name]: url } }, completed]);
    expect(end).toMatchObject({ type: "failed", error: { code: "ENDPOINT_UNREACHABLE", type: "InvalidAnswerError" } });
    expect(asked).toHaveLength(1);
  });

  test("does not believe a redirect to another origin", async () => {
    const { end } = await invoke([accepted, { ...completed, url: "https://example.org/s" }]);
    expect(end).toMatchObject({ type: "failed", error: { message: "example.com redirected to another origin." } });
  });

  test("parses no answer with more keys and values than the limit", async () => {
    const text = `[${"7,".repeat(200_000)}7]`;
    const message = "example.com gave an answer with more than 200000 keys and values, the limit.";
    expect((await invoke([{ text }])).end).toMatchObject({ type: "failed", error: { message } });
    expect((await invoke([accepted, completed, { text }])).end).toMatchObject({ type: "failed", error: { message } });
    expect(
      (await invoke([{ status: 400, text: `{"error":{"code":"X","message":"no"},"more":${text}}` }])).end,
    ).toMatchObject({
      type: "failed",
      error: { code: "VALIDATION_ERROR", message: "example.com answered with status 400." },
    });
  });

  test.each([
    [
      { status: "completed", output: 7 },
      { type: "completed", output: 7 },
    ],
    [{ text: "hallo" }, { type: "completed", output: { text: "hallo" } }],
    ["hallo", { type: "completed", output: "hallo" }],
    [
      { status: "failed", error: { type: "ValueError", message: "no", code: "X" } },
      { type: "failed", error: { type: "ValueError", message: "no", code: "X" } },
    ],
    [
      { status: "completed", output: 7, output_blobs: ["blob:1"], more_output_blobs: { count: 2 } },
      { type: "completed", output: 7, there: { blobs: 3, output: false } },
    ],
    [
      { truncated: true, blob_id: "blob:1", size_bytes: 9000 },
      { type: "completed", output: { truncated: true, size_bytes: 9000 }, there: { blobs: 0, output: true } },
    ],
  ])("may be answered at once: %j", async (body, expected) => {
    expect((await invoke([{ body }])).end).toEqual(expected);
  });

  test.each([
    [
      { status: "failed", error: { type: "ValueError", message: "not so", details: { line: 1 } } },
      { type: "ValueError", message: "not so", details: { line: 1 } },
    ],
    [{ status: "cancelled" }, { type: "CancelledError", message: "The execution was cancelled." }],
    [{ status: "failed" }, { type: "RemoteError", message: "The execution was failed." }],
  ])("that failed there fails: %j", async (body, error) => {
    expect((await invoke([accepted, completed, { body: { execution_id: "e 1", ...body } }])).end).toEqual({
      type: "failed",
      error,
    });
  });

  test.each([
    [400, { error: { code: "VALIDATION_ERROR", message: "text is required" } }, "VALIDATION_ERROR", "text is required"],
    [401, {}, "AUTH_REQUIRED", "example.com answered with status 401."],
    [
      503,
      { error: { code: "ENDPOINT_UNREACHABLE", message: "busy", retry: { after_seconds: 1 } } },
      "ENDPOINT_UNREACHABLE",
      "busy",
    ],
    [302, {}, "ENDPOINT_UNREACHABLE", "example.com answered with status 302."],
  ])("that is refused with status %i fails, and is not repeated", async (status, body, code, message) => {
    const { end, asked } = await invoke([{ status, body }]);
    expect(end).toMatchObject({ type: "failed", error: { type: "EndpointError", code, message } });
    expect(asked).toHaveLength(1);
  });

  test.each([
    ["no JSON", { status: 202, text: "<html>" }],
    ["no id", { status: 202, body: { status: "accepted" } }],
    ["an unknown state", { body: { execution_id: "e", status: "sleeping" } }],
  ])("is not followed where the answer has %s", async (_what, step) => {
    const { end } = await invoke("status" in step ? [step] : [accepted, step]);
    expect(end).toMatchObject({ type: "failed", error: { type: "InvalidAnswerError", code: "ENDPOINT_UNREACHABLE" } });
  });

  test("fails where the machine cannot be reached", async () => {
    const { end } = await invoke([{ error: unreachable }]);
    expect(end).toEqual({
      type: "failed",
      error: { type: "EndpointError", code: "ENDPOINT_UNREACHABLE", message: unreachable.message },
    });
  });

  test("survives short disturbances, not lasting ones", async () => {
    const disturbed = [
      { error: unreachable },
      { status: 500, body: {} },
      { status: 429, body: {} },
      { error: unreachable },
    ];
    expect((await invoke([accepted, ...disturbed, completed, ...disturbed, result])).end).toMatchObject({
      type: "completed",
    });
    const { end, asked } = await invoke([accepted, { status: 500, body: {} }]);
    expect(end).toMatchObject({ type: "failed", error: { code: "ENDPOINT_UNREACHABLE" } });
    expect(asked).toHaveLength(6);
  });

  test("that is no longer known there fails at once", async () => {
    const { end, asked } = await invoke([accepted, { status: 404, body: {} }]);
    expect(end).toMatchObject({ type: "failed", error: { code: "SKILL_NOT_FOUND" } });
    expect(asked).toHaveLength(2);
  });

  test("waits as long as Retry-After says, and longer from look to look", async () => {
    const patient = await invoke([accepted, { ...running, headers: { "retry-after": "20" } }, completed, result]);
    expect(patient.waitedMs).toBeGreaterThanOrEqual(20_000);
    const often = await invoke([accepted, running], { given: { timeoutMs: 600_000 } });
    expect(often.end).toEqual({ type: "timeout" });
    expect(often.asked.length).toBeLessThan(140);
  });

  test.each([
    ["never ends", [accepted, running]],
    ["never answers a look", [accepted, { hangs: true as const }]],
    ["ended without a result", [accepted, completed, { status: 202, body: running.body }]],
  ])("that %s is cancelled when its time is over", async (_what, steps) => {
    const { end, asked } = await invoke(steps);
    expect(end).toEqual({ type: "timeout" });
    expect(asked.at(-1)).toMatchObject({
      method: "DELETE",
      url: `${endpoint}/e%201`,
      headers: { authorization: "Bearer key" },
    });
  });

  test("that is never accepted times out, with nothing to cancel", async () => {
    const { end, asked } = await invoke([{ hangs: true }]);
    expect([end, asked.length]).toEqual([{ type: "timeout" }, 1]);
  });

  test("is cancelled there when the caller cancels", async () => {
    const { end, asked } = await invoke([accepted, running], { stopAfter: 4 });
    expect(end).toEqual({ thrown: "Error: stopped" });
    expect(asked.map(({ method }) => method ?? "GET")).toEqual(["POST", "GET", "GET", "GET", "DELETE"]);
  });

  test("does not cancel what has ended", async () => {
    const { asked } = await invoke([accepted, completed, result]);
    expect(asked.some(({ method }) => method === "DELETE")).toBe(false);
  });
});
