import fc from "fast-check";
import { expect, test } from "vitest";
import { PrintedTail } from "../../../../src/browser/server/runs/page-runs.ts";
import { manualClock } from "../../../manual-clock.ts";

function openTail() {
  const clock = manualClock();
  const sent: { readonly at: number; readonly text: string }[] = [];
  return { clock, sent, tail: new PrintedTail(clock, (part) => void sent.push(part)) };
}

test("what is printed within a tenth of a second is sent once", () => {
  const { clock, sent, tail } = openTail();
  tail.push("a\n");
  tail.push("b\n");
  expect(sent).toEqual([]);
  clock.pass(100);
  expect(sent).toEqual([{ at: 0, text: "a\nb\n" }]);
  tail.push("c\n");
  tail.flush();
  tail.flush();
  clock.pass(100);
  expect(sent.slice(1)).toEqual([{ at: 4, text: "c\n" }]);
});

test("of a flood the last 32 KiB are sent each time, and the last 256 KiB retained", () => {
  const { clock, sent, tail } = openTail();
  for (let megabyte = 0; megabyte < 64; megabyte++) tail.push("x".repeat(1024 * 1024));
  tail.push("end");
  clock.pass(100);
  expect(sent.map(({ at, text }) => [at + text.length, text.length])).toEqual([[64 * 1024 * 1024 + 3, 32 * 1024]]);
  const { at, text } = tail.read();
  expect([at + text.length, text.length, text.endsWith("xend")]).toEqual([64 * 1024 * 1024 + 3, 256 * 1024, true]);
});

test("parts are sent in order, at their places, and no half of a character", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.string({ unit: "binary", maxLength: 30_000 }), fc.boolean()), { maxLength: 6 }),
      (prints) => {
        const { clock, sent, tail } = openTail();
        let all = "";
        for (const [text, isPaused] of prints) {
          tail.push(text);
          all += text;
          if (isPaused) clock.pass(100);
        }
        tail.flush();
        let end = 0;
        for (const { at, text } of sent) {
          expect(at).toBeGreaterThanOrEqual(end);
          expect(text).toBe(all.slice(at, at + text.length));
          end = at + text.length;
        }
        expect(end).toBe(all.length);
      },
    ),
    { numRuns: 30 },
  );
});
