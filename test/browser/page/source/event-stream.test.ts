import { expect, test } from "vitest";
import { readEvents, type ServerSentEvent } from "../../../../src/browser/page/source/http-request.ts";

async function read(pieces: readonly string[]): Promise<ServerSentEvent[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece));
      controller.close();
    },
  });
  const found: ServerSentEvent[] = [];
  for await (const event of readEvents(body)) found.push(event);
  return found;
}

test("reads events however they are cut", async () => {
  const text = ": hello\nretry: 1000\n\nid: 7\nevent: skills\ndata: {\ndata: }\n\ndata:x\r\n\r\n";
  const expected = [
    { id: "7", kind: "skills", data: "{\n}" },
    { id: "7", kind: "message", data: "x" },
  ];
  expect(await read([text])).toEqual(expected);
  expect(await read(Array.from(text.replaceAll("\r", "")))).toEqual(expected);
});

test("drops what is not complete when the stream ends", async () => {
  expect(await read(["data: one\n\ndata: tw"])).toEqual([{ id: "", kind: "message", data: "one" }]);
});

test("ends a stream whose event has no end", async () => {
  const piece = "x".repeat(1024 * 1024);
  await expect(read(["data: ", ...Array.from({ length: 20 }, () => piece)])).rejects.toThrow("An event is too large.");
});
