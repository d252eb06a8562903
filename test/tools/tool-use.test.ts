import { expect, test } from "vitest";
import { SkillsError } from "../../src/errors.ts";
import type { SkillsErrorCode } from "../../src/errors.ts";
import { endingOf, endingOfError } from "../../src/tools/tool-use.ts";

test.each([
  [{ skills: [] }, { outcome: "completed" }],
  [
    { status: "completed", run_id: "run_1" },
    { outcome: "completed", runId: "run_1" },
  ],
  [
    { status: "failed", run_id: "run_2", error: { type: "ValueError", message: "" } },
    { outcome: "failed", code: "ValueError", runId: "run_2" },
  ],
  [
    { status: "failed", run_id: "run_3", error: { type: "TimeoutError", message: "", code: "EXECUTION_TIMEOUT" } },
    { outcome: "failed", code: "EXECUTION_TIMEOUT", runId: "run_3" },
  ],
])("the answer %j ended as %j", (output, ending) => {
  expect(endingOf(output)).toEqual(ending);
});

test.each<[SkillsErrorCode, string]>([
  ["PERMISSION_DENIED", "refused"],
  ["INTERNAL", "failed"],
])("the error %s is %s", (code, outcome) => {
  expect(endingOfError(new SkillsError(code, "No."))).toEqual({ outcome, code });
});
