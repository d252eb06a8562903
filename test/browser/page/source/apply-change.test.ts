import { expect, test } from "vitest";
import { applyChange } from "../../../../src/browser/page/source/apply-change.ts";
import { inventRow, inventRows } from "../invented-rows.ts";

const list = { revision: 4, skills: inventRows(5), unread: [] };

test("puts new and different rows in their place and removes others", () => {
  const edited = inventRow(3, { description: "Edited." });
  const renamed = inventRow(4, { name: "aaa" });
  const next = applyChange(list, { revision: 5, put: [inventRow(9), edited, renamed], removed: ["skill-00001"] });
  expect(next?.skills).toEqual([renamed, inventRow(0), inventRow(2), edited, inventRow(9)]);
  expect(next?.skills[1]).toBe(list.skills[0]);
});

test("ignores what the list has already, and says when something was missed", () => {
  expect(applyChange(list, { revision: 4, put: [], removed: ["skill-00001"] })).toBe(list);
  expect(applyChange(list, { revision: 6, put: [], removed: [] })).toBeUndefined();
});
