import { describe, expect, test, vi } from "vitest";
import { createDeferred } from "../../../../src/base/promises.ts";
import { SkillsError } from "../../../../src/base/errors.ts";
import { type ServeConfig, defaultAnonymousLimits, defaultCallerLimits } from "../../../../src/serve/config.ts";
import { maxWholeOutputBytes } from "../../../../src/runtime/runs/record/whole-result.ts";
import type { MemoryScript } from "../../../runtime/sandbox/memory-sandbox.ts";
import { callerConfig } from "../../caller-config.ts";
import { type Served, type ServedOptions, action, openRecords, openServed } from "../../open-served.ts";

const skills = {
  ...action("open.sum", '[inputs.numbers]\ntype = "array"\nrequired = true\n'),
  ...action("shared.sum"),
  ...action("own.sum"),
  ...action("keys.sum", '[permissions]\nsecrets = ["KEY"]\n'),
};

const config: Partial<ServeConfig> = {
  access: { default: "private", public: ["open.*"], restricted: ["shared.*"], private: [] },
  callers: [callerConfig("ada"), callerConfig("bob"), callerConfig("reads", { tools: ["list_skills"] })],
};

/** The queue of the tests has 8 places. */
const impatient: Partial<ServeConfig> = {
  ...config,
  callers: Array.from({ length: 50 }, (_, client) => callerConfig(`client${client}`)),
};

const open = (options: Partial<ServedOptions> = {}): Promise<Served> => openServed({ skills, config, ...options });

interface Started {
  readonly execution_id: string;
  readonly status_url: string;
  readonly result_url: string;
}

async function post(served: Served, slug: string, body: unknown, as?: string): ReturnType<Served["get"]> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { "content-type": "application/json" };
  return await served.get(`/skills/${slug}/executions`, { method: "POST", headers, body: text, as });
}

async function start(served: Served, slug: string, body: unknown = { args: {} }, as?: string): Promise<Started> {
  const { status, body: started } = await post(served, slug, body, as);
  expect(status).toBe(202);
  return started as Started;
}

/** The result, once it is there. */
async function resultOf(served: Served, { result_url: url }: Started, as?: string): ReturnType<Served["get"]> {
  for (;;) {
    const answer = await served.get(new URL(url).pathname, { as });
    if (answer.status !== 202) return answer;
  }
}

const forever: MemoryScript = ({ forever: never }) => never();
const adds: MemoryScript = ({ run: { program } }) => {
  const { numbers } = ("args" in program ? program.args : {}) as { readonly numbers: readonly number[] };
  return { type: "returned", value: numbers.reduce((sum, number) => sum + number, 0), summary: "Added." };
};

describe("an execution", () => {
  test("is accepted, runs, and has a result that is a run", async () => {
    const served = await open({ script: adds });
    const { status, headers, body } = await post(served, "open-sum", { args: { numbers: [1, 2] } });
    const started = body as Started;
    const url = `${served.url}/skills/open-sum/executions/${started.execution_id}`;
    expect([status, headers.get("location"), headers.get("cache-control")]).toEqual([202, url, "no-store"]);
    expect(started).toEqual({
      execution_id: started.execution_id,
      status: "accepted",
      status_url: url,
      result_url: `${url}/result`,
    });
    const result = await resultOf(served, started);
    expect(result.body).toMatchObject({
      execution_id: started.execution_id,
      run_id: started.execution_id,
      status: "completed",
      output: 3,
      summary: "Added.",
    });
    expect((await served.get(new URL(url).pathname)).body).toEqual({
      execution_id: started.execution_id,
      status: "completed",
    });
  });

  test("that still runs says so, with when to ask again", async () => {
    const served = await open({ script: forever });
    const started = await start(served, "shared-sum", {}, "ada");
    for (const [path, code] of [
      [started.status_url, 200],
      [started.result_url, 202],
    ] as const) {
      const { status, headers, body } = await served.get(new URL(path).pathname, { as: "ada" });
      expect([status, headers.get("retry-after"), body]).toEqual([
        code,
        "1",
        { execution_id: started.execution_id, status: "running" },
      ]);
    }
  });

  test("with a long output has all of it in its result, for other machines to read", async () => {
    const output = { text: "é".repeat(25 * 1024), list: [1, null, "__proto__"] };
    const served = await open({ script: () => ({ type: "returned", value: output }) });
    const { body } = await resultOf(served, await start(served, "shared-sum", {}, "ada"), "ada");
    expect(body).toMatchObject({ status: "completed", output_blobs: [] });
    expect((body as { readonly output: unknown }).output).toEqual(output);
  });

  test("with an output beyond the limit has a preview of it in its result", async () => {
    const output = "x".repeat(maxWholeOutputBytes - 1);
    const served = await open({ script: () => ({ type: "returned", value: output }) });
    const { body } = await resultOf(served, await start(served, "shared-sum", {}, "ada"), "ada");
    const { output_blobs: blobs } = body as { readonly output_blobs: readonly string[] };
    const { length } = JSON.stringify(output);
    expect(length).toBe(maxWholeOutputBytes + 1);
    expect(body).toMatchObject({ output: { truncated: true, blob_id: blobs[0], size_bytes: length } });
  });

  test("that returns the id of a blob that it did not create is answered as it is", async () => {
    const output = { truncated: true, blob_id: "blob:0123456789abcdef", size_bytes: 5000, preview: "" };
    const served = await open({
      script: () => ({ type: "returned", value: output, outputBlobs: ["blob:0123456789abcdef"] }),
    });
    const { body } = await resultOf(served, await start(served, "shared-sum", {}, "ada"), "ada");
    expect(body).toMatchObject({ status: "completed", output, output_blobs: [] });
  });

  test("that fails has a result, too", async () => {
    const served = await open({ script: () => ({ type: "raised", error: { type: "ValueError", message: "not so" } }) });
    const started = await start(served, "own-sum", {}, "ada");
    expect((await resultOf(served, started, "ada")).body).toMatchObject({
      status: "failed",
      error: { type: "ValueError", message: "not so" },
    });
  });

  test("that takes too long fails with EXECUTION_TIMEOUT", async () => {
    const served = await open({ script: forever });
    const started = await start(served, "own-sum", { timeout_ms: 500 }, "ada");
    served.clock.pass(500);
    expect((await resultOf(served, started, "ada")).body).toMatchObject({
      status: "failed",
      error: { code: "EXECUTION_TIMEOUT" },
    });
  });

  test("is cancelled by DELETE, and stays cancelled", async () => {
    const served = await open({ script: forever });
    const started = await start(served, "own-sum", {}, "ada");
    const path = new URL(started.status_url).pathname;
    for (let time = 0; time < 2; time++) {
      const { status, body } = await served.get(path, { method: "DELETE", as: "ada" });
      expect([status, body]).toEqual([200, { execution_id: started.execution_id, status: "cancelled" }]);
    }
    expect((await resultOf(served, started, "ada")).body).toMatchObject({
      status: "cancelled",
      error: { type: "CancelledError" },
    });
  });

  test.each(["bob", undefined])("of one caller does not exist for %s", async (as) => {
    const served = await open({ script: forever });
    const { execution_id: id } = await start(served, "shared-sum", {}, "ada");
    const absent = await served.get("/skills/shared-sum/executions/run_00000000000000ff", { as });
    expect(absent.status).toBe(404);
    for (const [path, method] of [
      ["", "GET"],
      ["/result", "GET"],
      ["", "DELETE"],
    ] as const) {
      const other = await served.get(`/skills/shared-sum/executions/${id}${path}`, { as, method });
      expect([other.status, other.body]).toEqual([404, absent.body]);
    }
    expect((await served.get(`/skills/shared-sum/executions/${id}`, { as: "ada" })).body).toMatchObject({
      status: "running",
    });
  });

  test("is found under its own skill only, and by no path", async () => {
    const served = await open({ script: forever });
    const { execution_id: id } = await start(served, "shared-sum", {}, "ada");
    for (const path of [`own-sum/executions/${id}`, "shared-sum/executions/run_", "shared-sum/executions/%2e%2e%2fx"])
      expect((await served.get(`/skills/${path}`, { as: "ada" })).status).toBeGreaterThanOrEqual(400);
  });

  test("survives a restart of the server", async () => {
    const records = openRecords();
    const first = await open({ records, script: adds });
    const started = await start(first, "open-sum", { args: { numbers: [4] } }, "ada");
    await resultOf(first, started, "ada");
    await first.close();
    const second = await open({ records });
    expect((await resultOf(second, started, "ada")).body).toMatchObject({ status: "completed", output: 4 });
    expect((await resultOf(second, started, "bob")).status).toBe(404);
  });

  test("is accepted when its record is stored, not before", async () => {
    const records = openRecords();
    const disk = createDeferred<boolean>();
    const served = await open({ records: { ...records, stored: () => disk.promise }, script: forever });
    let answered = false;
    const posted = post(served, "own-sum", {}, "ada").finally(() => (answered = true));
    await vi.waitFor(async () => {
      for await (const run of records.list()) if (run.status === "running") return;
      throw new Error("not running yet");
    });
    expect(answered).toBe(false);
    disk.resolve(true);
    expect((await posted).status).toBe(202);
  });

  test("that cannot be recorded is refused and cancelled", async () => {
    const records = openRecords();
    const served = await open({ records: { ...records, stored: () => Promise.resolve(false) }, script: forever });
    const refused = await post(served, "own-sum", {}, "ada");
    expect([refused.status, refused.headers.get("retry-after"), refused.body]).toMatchObject([
      503,
      "1",
      { error: { code: "ENDPOINT_UNREACHABLE", details: { reason: "RUNTIME_BUSY" } } },
    ]);
    await vi.waitFor(async () => {
      const statuses: string[] = [];
      for await (const { status } of records.list()) statuses.push(status);
      expect(statuses).toEqual(["cancelled"]);
    });
  });

  test("of 50 impatient clients is refused with when to try again, or known from its 202 to its result", async () => {
    const full = createDeferred();
    const script: MemoryScript = async (given) => {
      await full.promise;
      return await adds(given);
    };
    const served = await open({ script, concurrency: 1, config: impatient });
    const statuses = new Set<number>();
    await Promise.all(
      Array.from({ length: 50 }, async (_, client) => {
        for (let time = 0; time < 4; time++) {
          const answer = await post(served, "open-sum", { args: { numbers: [client, time] } }, `client${client}`);
          statuses.add(answer.status);
          if (answer.status === 202) {
            const { status_url: url } = answer.body as Started;
            expect((await served.get(new URL(url).pathname, { as: `client${client}` })).status).toBe(200);
            const result = await resultOf(served, answer.body as Started, `client${client}`);
            expect([result.status, result.body]).toMatchObject([200, { status: "completed", output: client + time }]);
          } else expect(answer.headers.get("retry-after")).toBe("1");
          if (answer.status === 503) full.resolve();
        }
      }),
    );
    expect([...statuses].sort()).toEqual([202, 503]);
  });

  test("is cancelled when the server stops and its time is over", async () => {
    const records = openRecords();
    const served = await open({ records, script: forever });
    const { execution_id: id } = await start(served, "own-sum", {}, "ada");
    expect((await records.read(id))?.status).toBe("running");
    await served.close();
    expect((await records.read(id))?.status).toBe("cancelled");
  });
});

describe("an invocation", () => {
  test.each([
    ["open-sum", {}, 400, "VALIDATION_ERROR"],
    ["open-sum", { args: { numbers: [], number: 1 } }, 400, "VALIDATION_ERROR"],
    ["open-sum", { args: [] }, 400, "VALIDATION_ERROR"],
    ["open-sum", { arg: {} }, 400, "VALIDATION_ERROR"],
    ["open-sum", { name: "own.sum" }, 400, "VALIDATION_ERROR"],
    ["open-sum", { args: { numbers: [] }, timeout_ms: 0 }, 400, "VALIDATION_ERROR"],
    ["open-sum", { args: { numbers: [] }, version: "9.9.9" }, 422, "VERSION_INCOMPATIBLE"],
    ["open-sum", [], 400, "VALIDATION_ERROR"],
    ["open-sum", "{", 400, "VALIDATION_ERROR"],
    ["absent", {}, 404, "SKILL_NOT_FOUND"],
  ])("of %s with %j is refused with %i", async (slug, body, status, code) => {
    const served = await open();
    const refused = await post(served, slug, body, "ada");
    expect([refused.status, refused.body]).toMatchObject([status, { error: { code } }]);
    expect(refused.headers.get("cache-control")).toBe("no-store");
  });

  test("names what is wrong with the arguments", async () => {
    const { body } = await post(await open(), "open-sum", { args: { number: [] } });
    expect(body).toMatchObject({
      error: {
        details: { hint: "Did you mean numbers?", violations: [{ field: "/args/number" }, { field: "/args/numbers" }] },
      },
    });
  });

  test("of a skill with a secret needs the grant that the refusal names, and then the secret's value", async () => {
    const refused = await post(await open(), "keys-sum", {}, "ada");
    expect([refused.status, refused.body]).toMatchObject([403, { error: { code: "PERMISSION_DENIED" } }]);
    const [grant] = /keys\.sum@[0-9a-f]{64}/.exec(refused.text) ?? [];
    const callers = [callerConfig("ada", { grants: [grant!], secrets: ["KEY"] })];
    const missing = await post(await open({ config: { ...config, callers } }), "keys-sum", {}, "ada");
    expect([missing.status, missing.body]).toMatchObject([
      503,
      { error: { code: "ENDPOINT_UNREACHABLE", details: { reason: "SECRET_MISSING" } } },
    ]);
    const readSecret = () => Promise.resolve("a value of this secret");
    const served = await open({ config: { ...config, callers }, readSecret });
    expect((await post(served, "keys-sum", {}, "ada")).status).toBe(202);
  });

  test("of a skill whose secret this caller may not have is refused, whatever is granted", async () => {
    const [grant] = /keys\.sum@[0-9a-f]{64}/.exec((await post(await open(), "keys-sum", {}, "ada")).text) ?? [];
    const callers = [callerConfig("ada", { grants: [grant!], secrets: [] })];
    const readSecret = () => Promise.resolve("a value of this secret");
    const refused = await post(await open({ config: { ...config, callers }, readSecret }), "keys-sum", {}, "ada");
    expect([refused.status, refused.body]).toMatchObject([503, { error: { details: { reason: "SECRET_MISSING" } } }]);
  });

  test("is refused at once where no sandbox is available", async () => {
    const unavailable = new SkillsError("SANDBOX_UNAVAILABLE", "No sandbox is available.");
    const { status, body } = await post(await open({ unavailable }), "own-sum", {}, "ada");
    expect([status, body]).toMatchObject([
      503,
      { error: { code: "ENDPOINT_UNREACHABLE", details: { reason: "SANDBOX_UNAVAILABLE" } } },
    ]);
  });

  test.each([
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
    ["application/json; charset=utf-8", 202],
  ])("with content type %s is answered with %i", async (type, status) => {
    const served = await open();
    const answer = await served.get("/skills/own-sum/executions", {
      method: "POST",
      body: "{}",
      headers: { "content-type": type },
      as: "ada",
    });
    expect(answer.status).toBe(status);
  });

  test("needs the tool that executes", async () => {
    const refused = await post(await open(), "own-sum", {}, "reads");
    expect([refused.status, refused.body]).toMatchObject([403, { error: { code: "PERMISSION_DENIED" } }]);
  });

  test("is limited for each caller, by the executions that run", async () => {
    const limits = { ...defaultCallerLimits, concurrentRequests: 2 };
    const callers = [callerConfig("ada", { limits }), callerConfig("bob")];
    const served = await open({
      script: forever,
      config: { ...config, callers, anonymous: { tools: ["execute_skill"], limits: defaultAnonymousLimits } },
    });
    const first = await start(served, "shared-sum", {}, "ada");
    await start(served, "shared-sum", {}, "ada");
    const limited = await post(served, "shared-sum", {}, "ada");
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(limited.body).toMatchObject({ error: { code: "RATE_LIMITED", retry: { after_seconds: 1 } } });
    await start(served, "shared-sum", {}, "bob");
    await served.get(new URL(first.status_url).pathname, { method: "DELETE", as: "ada" });
    await start(served, "shared-sum", {}, "ada");
  });

  test("that waits behind others is accepted, and notified when it is refused later", async () => {
    const served = await open({ script: forever, concurrency: 1 });
    const first = await start(served, "shared-sum", {}, "ada");
    const second = await start(served, "shared-sum", {}, "bob");
    const path = new URL(second.status_url).pathname;
    expect((await served.get(path, { as: "bob" })).body).toMatchObject({ status: "accepted" });
    await served.get(new URL(first.status_url).pathname, { method: "DELETE", as: "ada" });
    for (let status; status !== "running";)
      ({ status } = (await served.get(path, { as: "bob" })).body as { status: string });
  });
});
