import { expect, test } from "vitest";
import { widthOf } from "../../../src/cli/report/terminal.ts";

test.each([
  [{ isTTY: true, columns: 80 }, 80],
  [{ isTTY: true, columns: 0 }, undefined],
  [{ isTTY: true }, undefined],
  [{ isTTY: false, columns: 80 }, undefined],
  [{ columns: 80 }, undefined],
])("the width of %j is %s columns", (stdout, columns) => {
  expect(widthOf(stdout)).toBe(columns);
});
