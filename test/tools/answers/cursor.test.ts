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
const optional = fc.option(fc.string(), { nil: undefined });
const list = fc.record({ namespace: optional, query: optional });

test("a cursor returns its row for its list, and is safe in a URL", () => {
  fc.assert(
    fc.property(list, fc.string(), fc.nat(), (of, name, rank) => {
      const cursor = toCursor(of, { name, rank });
      expect(fromCursor(cursor, of)).toEqual({ name, rank: of.query === undefined ? 0 : rank });
      expect(cursor).toMatch(/^[\w-]+$/);
    }),
  );
});

test("a cursor of another namespace or query is refused", () => {
  fc.assert(
    fc.property(list, list, fc.string(), (one, other, name) => {
      fc.pre(one.namespace !== other.namespace || one.query !== other.query);
      expect(codeOf(() => fromCursor(toCursor(one, { name, rank: 1 }), other))).toBe("INVALID_CURSOR");
    }),
  );
});

test("a cursor with a changed, added or missing character is refused", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/. \n";
  const cursor = toCursor({ namespace: "sales" }, { name: "sales.leads.sync" });
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...Array.from(letters)), (at, letter) => {
      fc.pre(cursor[at] !== letter);
      for (const changed of [
        cursor.slice(0, at) + letter + cursor.slice(at + 1),
        cursor.slice(0, at) + letter + cursor.slice(at),
        cursor.slice(0, at),
        cursor + letter,
      ]) {
        expect(codeOf(() => fromCursor(changed, { namespace: "sales" }))).toBe("INVALID_CURSOR");
      }
    }),
  );
});

test("any other text is refused with the same error", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(codeOf(() => fromCursor(text, {}))).toBe("INVALID_CURSOR");
    }),
  );
});
