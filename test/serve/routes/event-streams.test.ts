import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createEventStreams } from "../../../src/serve/routes/events.ts";
import type { ServeContext } from "../../../src/serve/serve-context.ts";
import { manualClock } from "../../manual-clock.ts";

const anonymous = { name: "anonymous", isAnonymous: true };
const named = { name: "ci", isAnonymous: false };

function openWith(eventStreams: number) {
  const streams = createEventStreams({
    app: { clock: manualClock() },
    config: { limits: { eventStreams } },
    draining: new AbortController().signal,
    metrics: { streamOpened: () => undefined, streamClosed: () => undefined },
  } as unknown as ServeContext);
  /** How many streams are opened before one is refused, and why it is; undefined if none is. */
  const openMany = (count: number, caller: typeof named, address: (n: number) => string) => {
    for (let n = 0; n < count; n++) {
      const reader = { caller, address: address(n) };
      const refusal = streams.refusalOf(reader);
      if (refusal !== undefined) return { opened: n, status: refusal.status, message: refusal.message };
      streams.open(reader, new PassThrough(), [], () => () => undefined);
    }
    return undefined;
  };
  return openMany;
}

test("without a token, an address has a few streams, and all addresses together have those of one caller", () => {
  const open = openWith(256);
  expect(open(100, anonymous, () => "192.0.2.1")).toEqual({
    opened: 4,
    status: 429,
    message: "The limit of 4 event streams of one address without token is reached; close one.",
  });
  // The addresses of one site are one.
  expect(open(100, anonymous, (n) => `2001:db8:1:2::${n}`)).toMatchObject({ opened: 4 });
  expect(open(100, anonymous, (n) => `192.0.2.${n + 2}`)).toEqual({
    opened: 56,
    status: 429,
    message: "The limit of 64 event streams of one caller is reached; close one.",
  });
});

test("with a token, the address does not matter", () => {
  const open = openWith(256);
  expect(open(100, anonymous, () => "192.0.2.1")).toMatchObject({ opened: 4 });
  expect(open(100, named, () => "192.0.2.1")).toMatchObject({ opened: 64, status: 429 });
});

test("all together have the limit of the configuration; of a small one, everybody gets one", () => {
  const open = openWith(3);
  expect(open(2, anonymous, () => "192.0.2.1")).toMatchObject({ opened: 1, status: 429 });
  expect(open(1, named, () => "192.0.2.1")).toBeUndefined();
  expect(open(1, { ...named, name: "other" }, () => "192.0.2.1")).toBeUndefined();
  expect(open(1, { ...named, name: "third" }, () => "192.0.2.1")).toMatchObject({ opened: 0, status: 503 });
});
