import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BoundedBytes,
  createLineBatcher,
  toLongPlainText,
  toPlainText,
  toPreview,
} from "../../../../src/runtime/runs/record/run-text.ts";
import { retainedHeap } from "../../../retained-heap.ts";

test("keeps head and tail of a stream, however it is chunked", () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 }),
      fc.integer({ min: 2, max: 60 }),
      (pieces, limit) => {
        const whole = Buffer.concat(pieces);
        const kept = new BoundedBytes(limit);
        for (const piece of pieces) kept.push(piece);
        expect(kept.isCut).toBe(whole.length > limit);
        const read = kept.read();
        if (whole.length <= limit) expect(read).toEqual(whole);
        else {
          const head = Math.floor(limit / 2);
          const tail = limit - head;
          expect(read.subarray(0, head)).toEqual(whole.subarray(0, head));
          expect(read.subarray(read.length - tail)).toEqual(whole.subarray(whole.length - tail));
          expect(read.subarray(head, read.length - tail).toString()).toBe(
            `\n… ${whole.length - limit} bytes omitted …\n`,
          );
        }
      },
    ),
  );
});

test.each([
  ["before", 4_000_000],
  ["beyond", 1000],
])("many small pieces %s the limit take little more than their bytes", (_where, limit) => {
  const kept = new BoundedBytes(limit);
  const piece = Buffer.from("x");
  const before = retainedHeap();
  let most = 0;
  for (let index = 0; index < 800_000; index++) {
    kept.push(piece);
    if (index % 50_000 === 0) most = Math.max(most, retainedHeap() - before);
  }
  expect(most).toBeLessThan(20 * 1024 * 1024);
});

test("keeps head and tail of many small chunks", () => {
  const kept = new BoundedBytes(1000);
  for (let index = 0; index < 100_000; index++) kept.push(Buffer.from(String(index % 10)));
  expect(kept.read().toString().startsWith("0123456789")).toBe(true);
  expect(kept.read().toString().endsWith("6789")).toBe(true);
  expect(kept.read().length).toBeLessThan(1100);
});

test("a chunk may be reused after it was pushed", () => {
  const kept = new BoundedBytes(10);
  const piece = Buffer.from("abcd");
  kept.push(piece);
  piece.fill(0);
  expect(kept.read().toString()).toBe("abcd");
});

function open() {
  const told: string[] = [];
  return { told, ...createLineBatcher((text) => told.push(text)) };
}

test("passes whole lines on, batched as they arrive, and the rest at the end", () => {
  const { told, push, end } = open();
  for (const text of ["one\ntwo\nth", "ree", "\n", "fo", "ur"]) push(text);
  expect(told).toEqual(["one\ntwo\n", "three\n"]);
  end();
  end();
  expect(told).toEqual(["one\ntwo\n", "three\n", "four"]);
});

test("passes an endless line on in pieces", () => {
  const { told, push } = open();
  push("x".repeat(5000));
  expect(told.map((text) => text.length)).toEqual([2048, 2048, 904]);
});

test.each([
  ["in many small lines", () => "x\n"],
  ["in long ones", () => "x".repeat(2000) + "\n"],
])("a flood %s is reported only at its beginning", (_how, line) => {
  const { told, push, end } = open();
  for (let count = 0; count < 100_000; count++) push(line());
  end();
  expect(told.length).toBeLessThanOrEqual(1001);
  expect(told.join("").length).toBeLessThan(70_000);
  expect(told.filter((text) => text.includes("the rest is in the log"))).toHaveLength(1);
  expect(told.at(-1)).toContain("the rest is in the log");
});

test("removes control sequences, and keeps line breaks and tabs", () => {
  expect(toPlainText("a\tb\r\nc\rd\u001b[31mred\u001b[0m\u001b]0;title\u0007e\u0000\u009b2J\u202ef")).toBe(
    "a\tb\nc\ndrede" + "2Jf".slice(2),
  );
});

test("no control character is left, whatever the input", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      expect(toPlainText(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test("a preview has head and tail in whole characters, within the limit", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 300 }).filter((some) => !some.includes("\ufffd"));
  fc.assert(
    fc.property(text, fc.integer({ min: 60, max: 200 }), (text, limit) => {
      const preview = toPreview(text, limit);
      expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(limit);
      expect(preview).not.toContain("\ufffd");
      if (Buffer.byteLength(text) <= limit) expect(preview).toBe(text);
      else {
        const [head = "", tail = ""] = preview.split(/\n… \d+ bytes in total …\n/);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      }
    }),
  );
});

test("processing in slices gives the same as processing at once", async () => {
  for (const unit of ["\u001b[31mred\u001b[0m ", "a\r\n", "\u009b2J😀", "\u001b]0;title\u0007x", "\u001b(B"]) {
    for (const before of ["", "1", "12", "123", "1234567"]) {
      const text = before + unit.repeat(20_000);
      expect((await toLongPlainText(Buffer.from(text))) === toPlainText(text), JSON.stringify(before + unit)).toBe(
        true,
      );
    }
  }
});

test("matching takes linear time", () => {
  // The regular expression of Node took half a minute for each of some of these.
  for (const unit of [";?", ";", "?", "1;", "\u001b]", "\u009d", "\u001b", "\u001b[", "[", " "]) {
    expect(toPlainText("\u001b" + unit.repeat(500_000))).not.toContain("\u001b");
  }
});
