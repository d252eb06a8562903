import fc from "fast-check";
import { expect, test } from "vitest";
import { type Amendment, amendValue } from "../../../src/acp/messages/amend.ts";
import { amendLine } from "../../../src/acp/relay/amend-line.ts";

const amendText = (text: string, amendments: readonly Amendment[]): string =>
  amendLine(Buffer.from(text), amendments).toString();

/** A message with a value at every path that is amended, and arbitrary other fields. */
const message = fc.record({
  id: fc.oneof(fc.nat(), fc.string()),
  extra: fc.jsonValue(),
  params: fc.record(
    { _meta: fc.dictionary(fc.string(), fc.jsonValue()), list: fc.array(fc.jsonValue()), other: fc.jsonValue() },
    { requiredKeys: ["list"] },
  ),
});
const amendment = fc.oneof(
  fc.record({ path: fc.constant(["params", "_meta"]), value: fc.jsonValue() }),
  fc.record({ path: fc.constant(["params", "new"]), value: fc.jsonValue() }),
  fc.record({ path: fc.constant(["extra"]), value: fc.jsonValue() }),
);

test("amends a value and its JSON text with the same result", () => {
  fc.assert(
    fc.property(
      message,
      amendment,
      fc.array(fc.jsonValue(), { minLength: 1 }),
      fc.nat(10),
      fc.boolean(),
      (value, set, insert, place, doesReplace) => {
        const { list } = value.params;
        const at = place % (list.length + 1);
        const remove = doesReplace && at < list.length ? 1 : 0;
        const amendments: Amendment[] = [{ path: ["params", "list"], at, remove, insert }, set];
        const amended = amendValue(value, amendments);
        expect(JSON.parse(amendText(JSON.stringify(value), amendments))).toEqual(JSON.parse(JSON.stringify(amended)));
        expect(JSON.parse(amendText(JSON.stringify(value, null, 2), amendments))).toEqual(
          JSON.parse(JSON.stringify(amended)),
        );
      },
    ),
  );
});

test("keeps the exact text of everything that is not amended", () => {
  const text = '{"id": 9007199254740993, "b":1.0,\t"params":{ "a":"\\u00e9\\/" , "list":[ 1e2,3 ]}}\r\n';
  const amended = amendText(text, [
    { path: ["params", "list"], at: 1, remove: 1, insert: [4, 5] },
    { path: ["params", "_meta"], value: { x: 1 } },
  ]);
  expect(amended).toBe(
    '{"id": 9007199254740993, "b":1.0,\t"params":{ "a":"\\u00e9\\/" , "list":[ 1e2,4,5 ],"_meta":{"x":1}}}\r\n',
  );
});

test("appends items to an empty list and a property to an empty object", () => {
  const amendments: Amendment[] = [
    { path: ["list"], at: 0, remove: 0, insert: [1, 2] },
    { path: ["object", "key"], value: true },
  ];
  expect(amendText('{"list":[],"object":{}}', amendments)).toBe('{"list":[1,2],"object":{"key":true}}');
});

test("uses the last of duplicate keys, like JSON.parse", () => {
  expect(amendText('{"a":1,"a":2}', [{ path: ["a"], value: 3 }])).toBe('{"a":1,"a":3}');
});

test("skips values that are nested too deeply for recursion", () => {
  const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
  const text = `{"before":${deep},"params":{"list":[{"deep":${deep}}]}}`;
  const amended = amendText(text, [{ path: ["params", "list"], at: 1, remove: 0, insert: [7] }]);
  expect(amended === `{"before":${deep},"params":{"list":[{"deep":${deep}},7]}}`).toBe(true);
});

test.each(['{"a', '{"a":1', "[1,", "", " "])("throws a SyntaxError for invalid JSON: %j", (text) => {
  expect(() => amendText(text, [{ path: ["b"], value: 1 }])).toThrow(SyntaxError);
});

test("does not mutate the original value", () => {
  const value = Object.freeze({ params: Object.freeze({ list: Object.freeze([1]) }) });
  amendValue(value, [{ path: ["params", "list"], at: 0, remove: 1, insert: [2] }]);
  expect(value).toEqual({ params: { list: [1] } });
});

test.each([
  [{ path: ["missing", "deeper"], value: 1 }],
  [{ path: ["list", 5, "x"], value: 1 }],
  [{ path: ["missing"], at: 0, remove: 0, insert: [1] }],
  [{ path: ["text"], at: 0, remove: 0, insert: [1] }],
  [{ path: ["text", "x"], value: 1 }],
])("throws a RangeError for a path that does not exist: %j", (amendment: Amendment) => {
  const value = { list: [1], text: "x" };
  expect(() => amendValue(value, [amendment])).toThrow(RangeError);
  expect(() => amendText(JSON.stringify(value), [amendment])).toThrow(RangeError);
});
