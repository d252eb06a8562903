import { expect, test } from "vitest";
import { wantsColour } from "../../../src/cli/report/colour.ts";

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
