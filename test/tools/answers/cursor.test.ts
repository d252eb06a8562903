import fc from "fast-check";
import { expect, test } from "vitest";
import { isSkillsError } from "../../../src/errors.ts";
import { fromCursor, toCursor } from "../../../src/tools/answers/cursor.ts";

const codeOf = (act: () => unknown): string | undefined => {
  try {
    act();
    return undefined;
  } catch (error) {
    return isSkillsError(error) ? error.code : String(error);
  }
};
const namespace = fc.option(fc.string(), { nil: undefined });

test("a cursor gives back its name, in its namespace, and is safe in a URL", () => {
  fc.assert(
    fc.property(namespace, fc.string(), (space, after) => {
      const cursor = toCursor(space, after);
      expect(fromCursor(cursor, space)).toBe(after);
      expect(cursor).toMatch(/^[\w-]+$/);
    }),
  );
});

test("a cursor of another namespace is refused", () => {
  fc.assert(
    fc.property(namespace, namespace, fc.string(), (one, other, after) => {
      fc.pre(one !== other);
      expect(codeOf(() => fromCursor(toCursor(one, after), other))).toBe("INVALID_CURSOR");
    }),
  );
});

test("a change of any character of a cursor is noticed, and so is anything added or missing", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. \n";
  const cursor = toCursor("sales", "sales.leads.sync");
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...Array.from(letters)), (at, letter) => {
      fc.pre(cursor[at] !== letter);
      for (const changed of [
        cursor.slice(0, at) + letter + cursor.slice(at + 1),
        cursor.slice(0, at) + letter + cursor.slice(at),
        cursor.slice(0, at),
        cursor + letter,
      ]) {
        expect(codeOf(() => fromCursor(changed, "sales"))).toBe("INVALID_CURSOR");
      }
    }),
  );
});

test("no text that somebody makes up is a cursor, or breaks anything else", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(codeOf(() => fromCursor(text, undefined))).toBe("INVALID_CURSOR");
    }),
  );
});
