import { describe, expect, it } from "vitest";
import { Exchanges } from "../../src/mcp/streamable-http.ts";

const request = (id: unknown): object => ({ jsonrpc: "2.0", id, method: "tools/call" });
const cancelled = (requestId: unknown): object => ({ method: "notifications/cancelled", params: { requestId } });

describe("the exchanges of a session", () => {
  it("cancels the request that a cancellation names, and distinguishes 1 from '1'", () => {
    const exchanges = new Exchanges();
    const [one, text] = [exchanges.enter(request(1)), exchanges.enter(request("1"))];
    exchanges.enter(cancelled(1)).leave();
    expect([one.signal.aborted, text.signal.aborted]).toEqual([true, false]);
  });

  it("cancels neither of two requests that share an id", () => {
    const exchanges = new Exchanges();
    const both = [exchanges.enter(request(1)), exchanges.enter(request(1))];
    exchanges.enter(cancelled(1)).leave();
    expect(both.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    both[0]?.leave();
    exchanges.enter(cancelled(1)).leave();
    expect(both.map(({ signal }) => signal.aborted)).toEqual([false, true]);
  });

  it("cancels nothing where clients cannot be distinguished", () => {
    const exchanges = new Exchanges(false);
    const { signal } = exchanges.enter(request(1));
    exchanges.enter(cancelled(1)).leave();
    expect(signal.aborted).toBe(false);
  });

  it.each([[null], [[]], ["x"], [{}], [cancelled(undefined)], [{ ...cancelled(1), params: null }]])(
    "ignores %j, which is not a valid cancellation",
    (body) => {
      const exchanges = new Exchanges();
      const running = [exchanges.enter(request(1)), exchanges.enter([request(1)]), exchanges.enter(undefined)];
      exchanges.enter(body);
      expect(running.some(({ signal }) => signal.aborted)).toBe(false);
      exchanges.abortAll();
      expect(running.every(({ signal }) => signal.aborted)).toBe(true);
    },
  );
});
