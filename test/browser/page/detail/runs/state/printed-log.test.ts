import fc from "fast-check";
import { expect, test } from "vitest";
import {
  appendPrinted,
  emptyLog,
  gapBefore,
} from "../../../../../../src/browser/page/detail/runs/state/printed-log.ts";

test("parts that are sent twice, or overlap, are shown once, in order", () => {
  const all = Array.from({ length: 500 }, (_, index) => `line ${index}\n`).join("");
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(all.length), fc.nat(400))), (ranges) => {
      let log = emptyLog;
      for (const [at, length] of ranges.sort(([one], [other]) => one - other))
        log = appendPrinted(log, { at, text: all.slice(at, at + length) });
      let end = 0;
      for (const [index, { at, text }] of log.pieces.entries()) {
        expect(text).toBe(all.slice(at, at + text.length));
        expect(gapBefore(log, index)).toBe(at - end);
        end = at + text.length;
      }
      expect(log.end).toBe(end);
    }),
  );
});

test("of much text the end is retained, in pieces that do not change but the last one", () => {
  let log = emptyLog;
  for (let at = 0; at < 1_000_000; at += 1_000) {
    const before = new Set(log.pieces);
    log = appendPrinted(log, { at, text: "x".repeat(1_000) });
    expect(log.pieces.slice(0, -2).every((piece) => before.has(piece))).toBe(true);
  }
  const kept = log.pieces.reduce((sum, { text }) => sum + text.length, 0);
  expect(kept).toBeGreaterThanOrEqual(256 * 1024);
  expect(kept).toBeLessThan(256 * 1024 + 16 * 1024);
  expect(log.pieces.length).toBeLessThan(20);
  expect(gapBefore(log, 0)).toBe(1_000_000 - kept);
});
