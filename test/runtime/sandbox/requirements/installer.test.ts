import { expect, test } from "vitest";
import { explainFailure } from "../../../../src/runtime/sandbox/requirements/installer.ts";

test("quotes only the error lines of pip", () => {
  const output = [
    "Looking in links: /wheels",
    "ERROR: Could not find a version that satisfies the requirement nosuch==1.0 (from versions: none)",
    "ERROR: No matching distribution found for nosuch==1.0",
  ];
  expect(explainFailure(output.join("\n"))).toBe(
    "Could not find a version that satisfies the requirement nosuch==1.0 (from versions: none) " +
      "No matching distribution found for nosuch==1.0. Only wheels are installed; nothing is built from source.",
  );
});

test("quotes only the error of uv", () => {
  const output =
    "Using Python 3.12\n  × No solution found when resolving dependencies:\n  ╰─▶ Because nosuch was not found, it is unsatisfiable.\n";
  expect(explainFailure(output)).toMatch(
    /^No solution found when resolving dependencies: Because nosuch was not found/,
  );
});

test("falls back to the last lines, strips control characters and truncates long output", () => {
  expect(explainFailure("one\ntwo\n\u001b[31mthree\u001b[0m\u0007\n\u202efour\n")).toMatch(/^two three four\. Only/);
  expect(explainFailure(`ERROR: ${"x".repeat(5000)}`).length).toBeLessThan(1100);
});
