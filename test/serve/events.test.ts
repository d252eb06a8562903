import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createCallerEvents } from "../../src/serve/events.ts";

test("an event has an id, a type and its data on one line, whatever is in it", () => {
  const events = createCallerEvents({ epoch: "e", max: 4 });
  const told: string[] = [];
  events.listen((text) => void told.push(text));
  events.push("run", { name: "a\nevent: fake\r\n\u2028b" });
  expect(told).toEqual(['id: e-1\nevent: run\ndata: {"name":"a\\nevent: fake\\r\\n\u2028b"}\n\n']);
});

test("a client gets exactly what it has missed, or learns that this is not known", () => {
  fc.assert(
    fc.property(fc.nat(40), fc.nat(45), fc.integer({ min: 1, max: 10 }), (pushed, seen, most) => {
      const events = createCallerEvents({ epoch: "e", max: most });
      for (let n = 1; n <= pushed; n++) events.push("x", { n });
      const missed = events.since(`e-${seen}`);
      const isKnown = seen <= pushed && pushed - seen <= most;
      expect(missed !== undefined).toBe(isKnown);
      const numbers = missed?.map((text) => Number(/"n":(\d+)/.exec(text)?.[1]));
      if (isKnown) expect(numbers).toEqual(Array.from({ length: pushed - seen }, (_, index) => seen + index + 1));
    }),
  );
});

test.each(["", "e", "e-", "-1", "other-1", "e-1-1", "e--1", "e-1e3", "e-99999999999999999999", "e-1, e-2"])(
  "the id %j is of no event",
  (id) => {
    const events = createCallerEvents({ epoch: "e", max: 4 });
    events.push("x", {});
    expect(events.since(id)).toBeUndefined();
  },
);

test("an event for one client only has the id of the latest, and is not remembered", () => {
  const events = createCallerEvents({ epoch: "e", max: 4 });
  events.push("x", {});
  expect(events.now("reset", { snapshot: "u" })).toBe('id: e-1\nevent: reset\ndata: {"snapshot":"u"}\n\n');
  expect(events.since("e-0")).toHaveLength(1);
});
