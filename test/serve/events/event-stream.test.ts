import { expect, test } from "vitest";
import { openEventStream } from "../../../src/serve/events/event-stream.ts";

function openStream(first: readonly string[] = ["first\n\n"]) {
  const listeners = new Set<(text: string) => void>();
  let ends = 0;
  const stream = openEventStream({
    first,
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    ended: () => {
      ends += 1;
    },
  });
  const reader = stream.body.getReader();
  const decoder = new TextDecoder();
  return {
    ...stream,
    reader,
    tell: (text: string) => {
      for (const listener of listeners) listener(text);
    },
    read: async () => {
      const { done, value } = await reader.read();
      return done ? undefined : decoder.decode(value);
    },
    facts: () => ({ ends, listeners: listeners.size }),
  };
}

test("a client reads what it has missed, then events in order", async () => {
  const { tell, read } = openStream(["a", "b"]);
  tell("c");
  tell("d");
  expect(await read()).toBe("ab");
  expect(await read()).toBe("cd");
  tell("e");
  expect(await read()).toBe("e");
});

test("a client that does not read is disconnected after a limited number of events", async () => {
  const { tell, read, facts } = openStream();
  for (let n = 0; n < 64; n++) tell(`${n} `);
  expect(facts()).toEqual({ ends: 0, listeners: 1 });
  tell("64 ");
  expect(facts()).toEqual({ ends: 1, listeners: 0 });
  tell("65 ");
  expect([await read(), await read()]).toEqual(["first\n\n", undefined]);
});

test("ending and leaving are told once, and end the subscription", async () => {
  const ended = openStream();
  ended.end();
  ended.end();
  ended.beat();
  expect([await ended.read(), await ended.read()]).toEqual(["first\n\n", undefined]);
  expect(ended.facts()).toEqual({ ends: 1, listeners: 0 });
  const left = openStream();
  await left.reader.cancel();
  left.end();
  left.tell("x");
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
