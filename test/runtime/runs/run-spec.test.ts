import fc from "fast-check";
import { expect, test } from "vitest";
import { toTrustCaller } from "../../../src/runtime/runs/authorize.ts";
import { requesterOf } from "../../../src/runtime/runs/plan/plan-run.ts";
import { defaultRunLimits } from "../../../src/runtime/runs/run-limits.ts";
import { type RunSpec, runSpec } from "../../../src/runtime/runs/run-spec.ts";
import type { Json } from "../../../src/runtime/sandbox.ts";

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
const version = fc.record({ name: fc.string(), slug: fc.string(), version: fc.string(), digest: fc.string() });
const program = fc.oneof(
  fc.record({ type: fc.constant("skill" as const), skill: fc.string(), args: json }),
  fc.record({ type: fc.constant("code" as const), code: fc.string(), entrypoint: fc.string(), args: json }),
  fc.record(
    {
      type: fc.constant("script" as const),
      skill: fc.string(),
      file: fc.string(),
      language: fc.constantFrom("python" as const, "bash" as const, "node" as const),
      argv: fc.array(fc.string()),
      stdin: fc.string(),
    },
    { requiredKeys: ["type", "skill", "file", "language", "argv"] },
  ),
);
const spec = fc.record(
  {
    runId: fc.stringMatching(/^run_[a-f0-9]{16}$/),
    parent: fc.string(),
    replays: fc.string(),
    program,
    skill: version,
    mounts: fc.array(version),
    brokered: fc.array(version),
    blobs: fc.array(fc.record({ id: fc.string(), kind: fc.string(), size: fc.nat(), sha256: fc.string() })),
    limits: fc.constant({ ...defaultRunLimits }),
    clamped: fc.boolean(),
    needs: fc.record({
      network: fc.array(fc.string()),
      secrets: fc.array(fc.string()),
      project: fc.constantFrom("none" as const, "read" as const, "write" as const),
    }),
    owner: fc.string(),
    session: fc.string(),
    subagent: fc.string(),
    door: fc.string(),
    label: fc.string(),
  },
  { requiredKeys: ["runId", "program", "mounts", "brokered", "blobs", "limits", "clamped", "needs", "owner", "door"] },
);

test("a spec is the same after it was written as JSON and read back", () => {
  fc.assert(
    fc.property(spec, (given) => {
      const typed: RunSpec = given;
      expect(runSpec.parse(JSON.parse(JSON.stringify(typed)))).toEqual(typed);
    }),
  );
});

test("arguments called __proto__ survive", () => {
  const text = '{"type":"skill","skill":"a","args":{"__proto__":{"x":1}}}';
  expect(JSON.stringify(runSpec.shape.program.parse(JSON.parse(text)))).toBe(text);
});

test.each([
  ["a run id that is none", { runId: "../../etc/passwd" }],
  ["an unknown field, such as the value of a secret", { secrets: { KEY: "value" } }],
])("%s is rejected", (_what, change) => {
  const [valid] = fc.sample(spec, 1);
  expect(runSpec.safeParse(valid).success).toBe(true);
  expect(runSpec.safeParse({ ...valid, ...change }).success).toBe(false);
});

test("says, as a question does, which subagent of which session requests a run", () => {
  const who = { owner: "session:1", transport: "mcp", sessionId: "s", project: "/p" };
  expect(requesterOf({ ...who, subagent: "child" })).toEqual({
    owner: "session:1",
    door: "mcp",
    session: "s",
    subagent: "child",
  });
  expect(requesterOf(who)).toEqual({ owner: "session:1", door: "mcp", session: "s" });
  expect(toTrustCaller({ ...who, subagent: "child" })).toMatchObject({ sessionId: "s", subagent: "child" });
});
