import { expect, test } from "vitest";
import { wantsColour, widthOf } from "../../../src/cli/report/terminal.ts";

test.each([
  [{ isTTY: true, columns: 80 }, 80],
  [{ isTTY: true, columns: 0 }, undefined],
  [{ isTTY: true }, undefined],
  [{ isTTY: false, columns: 80 }, undefined],
  [{ columns: 80 }, undefined],
])("the width of %j is %s columns", (stdout, columns) => {
  expect(widthOf(stdout)).toBe(columns);
});

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ TERM: "dumb" }, true, false],
  [{ NO_COLOR: "1" }, true, false],
  [{ NO_COLOR: "" }, true, true],
  [{ FORCE_COLOR: "1" }, false, true],
  [{ FORCE_COLOR: "0" }, true, false],
  [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
])("with %j (terminal: %s), uses colours: %s", (env, isTerminal, wanted) => {
  expect(wantsColour(env, isTerminal)).toBe(wanted);
});
