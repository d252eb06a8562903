import { expect, test } from "vitest";
import { onSkillCalls } from "../../../src/runtime/tools/toolbox.ts";

test("a skill that code called is reported once its own run has ended, with that run's status", () => {
  const reported: unknown[] = [];
  const listen = onSkillCalls((...use) => void reported.push(use));
  const skill = { skill: "a.b", version: "1.2.0", digest: "sha256:12" };
  listen({ runId: "run_1", type: "skill_called", ...skill, calledRunId: "run_2" });
  listen({ runId: "run_2", type: "started", isolation: "memory", by: "grant_1" });
  expect(reported).toEqual([]);
  listen({ runId: "run_2", type: "ended", status: "failed" });
  listen({ runId: "run_1", type: "ended", status: "completed" });
  expect(reported).toEqual([
    [
      { name: "a.b", version: "1.2.0", digest: "sha256:12" },
      { outcome: "failed", runId: "run_2", isolation: "memory", grant: "grant_1" },
    ],
  ]);
});
