import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRpcBody } from "../../../src/serve/routes/rpc.ts";

const limit = 20;
const one = (value: unknown): unknown => {
  const body = readRpcBody(value, limit);
  return body.batch ? "batch" : body.message;
};
const invalid = (message: RegExp, id: unknown = null): object => ({
  type: "invalid",
  id,
  error: expect.objectContaining({
    code: "INVALID_REQUEST",
    message: expect.stringMatching(message) as string,
  }) as Error,
});

describe("one message", () => {
  test("is a call if it has an id, and a notification without one", () => {
    const call = { jsonrpc: "2.0", method: "list_skills", params: { limit: 1 } };
    expect(one({ ...call, id: "a" })).toEqual({
      type: "call",
      id: "a",
      method: "list_skills",
      params: { limit: 1 },
    });
    expect(one({ ...call, id: null })).toMatchObject({ type: "call", id: null });
    expect(one(call)).toEqual({ type: "notification", method: "list_skills", params: { limit: 1 } });
  });

  test.each([
    ["a number", 3, /must be an object/, null],
    ["null", null, /must be an object/, null],
    ["another version", { jsonrpc: "1.0", id: 1, method: "x" }, /jsonrpc/, 1],
    ["no version", { id: 1, method: "x" }, /jsonrpc/, 1],
    ["a method that is no text", { jsonrpc: "2.0", id: 1, method: 4 }, /method/, 1],
    ["an id that is an object", { jsonrpc: "2.0", id: {}, method: "x" }, /id must be/, null],
    ["an id that is true", { jsonrpc: "2.0", id: true, method: "x" }, /id must be/, null],
    ["params that are null", { jsonrpc: "2.0", id: 1, method: "x", params: null }, /params/, 1],
    ["params that are text", { jsonrpc: "2.0", id: "i", method: "x", params: "y" }, /params/, "i"],
  ])("is refused with its id where that is valid: %s", (_what, value, message, id) => {
    expect(one(value)).toEqual(invalid(message, id));
  });
});

describe("a batch", () => {
  test("keeps the order of its messages, valid or not", () => {
    const body = readRpcBody([{ jsonrpc: "2.0", id: 1, method: "a" }, 3, { jsonrpc: "2.0", method: "b" }], limit);
    expect(body).toMatchObject({ batch: true, messages: [{ id: 1 }, { type: "invalid" }, { type: "notification" }] });
  });

  test("is refused when it is empty or too long", () => {
    expect(() => readRpcBody([], limit)).toThrow(/empty/);
    expect(() => readRpcBody(Array(21).fill(1), limit)).toThrow("The batch has 21 requests; the limit is 20.");
    expect(readRpcBody(Array(20).fill(1), limit)).toMatchObject({ batch: true });
  });
});

test("any JSON is read as calls, notifications or refusals, and never fails in another way", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      try {
        const body = readRpcBody(value, limit);
        const messages = body.batch ? body.messages : [body.message];
        expect(messages.length).toBe(Array.isArray(value) ? value.length : 1);
        for (const message of messages) expect(["call", "notification", "invalid"]).toContain(message.type);
      } catch (error) {
        expect(error).toMatchObject({ code: "INVALID_REQUEST" });
        expect(Array.isArray(value)).toBe(true);
      }
    }),
  );
});

test("every valid request is read as it was written", () => {
  const id = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constant(null),
  );
  const params = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined });
  fc.assert(
    fc.property(id, fc.string(), params, (given, method, parameters) => {
      const message = { jsonrpc: "2.0", id: given, method, ...(parameters && { params: parameters }) };
      expect(one(JSON.parse(JSON.stringify(message)))).toEqual(
        JSON.parse(JSON.stringify({ type: "call", id: given, method, ...(parameters && { params: parameters }) })),
      );
    }),
  );
});
