import fc from "fast-check";
import { expect, test } from "vitest";
import { createTextFinder } from "../../../src/acp/relay/interest.ts";

test("finds a match exactly when a separate search for each text does", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "_"), maxLength: 40 });
  const text = fc
    .string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 4 })
    .filter((candidate) => !/^[^_]*_$/.test(candidate));
  fc.assert(
    fc.property(letters, fc.array(text, { maxLength: 5 }), fc.nat(40), (block, texts, start) => {
      const places = texts.map((one) => block.indexOf(one, start)).filter((place) => place !== -1);
      // The match may be any of several that overlap: the first underscore decides between them.
      const found = createTextFinder(texts)(Buffer.from(block), Math.min(start, block.length));
      expect(found === -1).toBe(places.length === 0);
      if (found !== -1) expect(texts.some((one) => block.startsWith(one, found))).toBe(true);
    }),
  );
});

test("finds texts on separate lines in line order", () => {
  const find = createTextFinder(["user_m", "_info_", "plain"]);
  const block = Buffer.from("x\n_infx\nan _info_ here\nplain\nuser_m\n");
  expect(find(block, 0)).toBe(block.indexOf("_info_"));
  expect(find(block, 12)).toBe(block.indexOf("plain"));
  expect(find(block, block.indexOf("plain") + 1)).toBe(block.indexOf("user_m"));
  expect(find(block, block.indexOf("user_m") + 1)).toBe(-1);
});
