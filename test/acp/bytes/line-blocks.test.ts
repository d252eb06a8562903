import fc from "fast-check";
import { expect, test } from "vitest";
import { openLineBlocks } from "../../../src/acp/bytes/line-blocks.ts";
import { cut } from "../cut.ts";

test("blocks hold whole lines, and nothing is lost or moved, wherever the bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "é", "\n", "\r\n", "🦀") }),
      fc.infiniteStream(fc.nat(9)),
      (text, sizes) => {
        const lines = openLineBlocks();
        const blocks = cut(Buffer.from(text), sizes).flatMap((chunk) => [...lines.push(chunk)]);
        expect(blocks.every((block) => block.length > 0 && block.at(-1) === 10)).toBe(true);
        const rest = lines.rest() ?? Buffer.alloc(0);
        expect(rest.includes(10)).toBe(false);
        expect(Buffer.concat([...blocks, rest]).toString()).toBe(text);
      },
    ),
  );
});

test("a chunk that starts and ends between lines is one block, and is not copied", () => {
  const chunk = Buffer.from("a\nb\n");
  expect(openLineBlocks().push(chunk)[0]?.buffer).toBe(chunk.buffer);
});

test("what is left is given once", () => {
  const lines = openLineBlocks();
  lines.push(Buffer.from("a\nb"));
  expect(lines.rest()?.toString()).toBe("b");
  expect(lines.rest()).toBeUndefined();
});
