import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { openEventStream } from "../../src/serve/events.ts";

/** A response of which the client reads one write at a time. */
function openStream(first: readonly string[] = ["first\n\n"]) {
  const listeners = new Set<(text: string) => void>();
  let ends = 0;
  const writes: { readonly text: string; readonly taken: () => void }[] = [];
  const response = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, taken) => void writes.push({ text, taken }),
  });
  const listen = (listener: (text: string) => void): (() => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const stream = openEventStream(response, first, listen, () => {
    ends += 1;
  });
  return {
    ...stream,
    response,
    push: (text: string) => {
      for (const listener of listeners) listener(text);
    },
    /** What was sent since; undefined if nothing was. */
    read: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      const next = writes.shift();
      next?.taken();
      await new Promise((resolve) => setImmediate(resolve));
      return next?.text;
    },
    facts: () => ({ ends, listeners: listeners.size }),
  };
}

test("a client reads what it has missed, then events in order", async () => {
  const { push, read } = openStream(["a", "b"]);
  push("c");
  push("d");
  expect(await read()).toBe("ab");
  expect(await read()).toBe("cd");
  push("e");
  expect(await read()).toBe("e");
});

test("a client that does not read is disconnected after a limited number of events", async () => {
  const { push, read, facts } = openStream();
  for (let n = 0; n < 64; n++) push(`${n} `);
  expect(facts()).toEqual({ ends: 0, listeners: 1 });
  push("64 ");
  expect(facts()).toEqual({ ends: 1, listeners: 0 });
  push("65 ");
  expect([await read(), await read()]).toEqual(["first\n\n", undefined]);
});

test("ending and leaving are reported once, and end the subscription", async () => {
  const ended = openStream();
  ended.end();
  ended.end();
  ended.beat();
  expect([await ended.read(), await ended.read()]).toEqual(["first\n\n", undefined]);
  expect(ended.facts()).toEqual({ ends: 1, listeners: 0 });
  const left = openStream();
  left.response.destroy();
  await left.read();
  left.end();
  left.push("x");
  expect(left.facts()).toEqual({ ends: 1, listeners: 0 });
});

test("a comment is sent only to a client that has read everything", async () => {
  const { beat, read } = openStream();
  beat();
  expect(await read()).toBe("first\n\n");
  beat();
  beat();
  expect(await read()).toBe(": \n\n");
});
