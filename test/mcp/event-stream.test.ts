import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEvents } from "../../src/mcp/event-stream.ts";
import { readLines } from "../../src/mcp/read-lines.ts";

/** The bytes of a text, cut where a test says. */
async function* inPieces(text: string, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text, "utf8");
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  for (const [index, place] of places.entries()) yield await Promise.resolve(bytes.subarray(place, places[index + 1]));
}

async function gather<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const cuts = fc.array(fc.nat(), { maxLength: 8 });
const json = fc.json();

describe("readEvents", () => {
  it("gives every event's data once, wherever the stream is cut and however lines end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { maxLength: 5 }),
        cuts,
        fc.constantFrom("\n", "\r\n", "\r"),
        async (data, at, end) => {
          const text = data
            .map((item) => [": kept alive", "event: message", `data: ${item}`, "", ""].join(end))
            .join("");
          // With a lone carriage return, a last one may be half of a longer end, and only more would tell.
          expect(await gather(readEvents(inPieces(`${text}: end${end}`, at)))).toEqual(data);
        },
      ),
    );
  });

  it("joins the lines of one event, and passes over one without data", async () => {
    const text = "id: 1\n\ndata: a\ndata:b\n\n";
    expect(await gather(readEvents(inPieces(text, [])))).toEqual(["a\nb"]);
  });

  it("gives no event that was cut off", async () => {
    expect(await gather(readEvents(inPieces("data: a\n\ndata: b\n", [])))).toEqual(["a"]);
  });
});

describe("readLines", () => {
  it("gives every line once, wherever the stream is cut, and splits at \\n only", async () => {
    const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", "\u2028\r"));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 5 }), cuts, async (lines, at) => {
        expect(await gather(readLines(inPieces(lines.map((text) => `${text}\n`).join(""), at)))).toEqual(lines);
      }),
    );
  });

  it("counts a last line without an end", async () => {
    expect(await gather(readLines(inPieces("a\nb", [])))).toEqual(["a", "b"]);
  });
});
