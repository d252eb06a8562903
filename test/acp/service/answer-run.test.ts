import { expect, test } from "vitest";
import type { App } from "../../../src/runtime/app.ts";
import { answerRun } from "../../../src/acp/service/answer-run.ts";
import { createDeferred } from "../../../src/base/promises.ts";
import type { Catalog } from "../../../src/skills/skillset/catalog.ts";
import type { OfferedSkill, Snapshot } from "../../../src/skills/skill.ts";
import { noPolicy } from "../../../src/runtime/trust/policy/open-policies.ts";

test("what is known of a skill is looked up once the skills have been read", async () => {
  const ready = createDeferred<Snapshot>();
  const known = new Map<string, OfferedSkill>();
  const skill = { name: "a", version: "1.0.0", directory: "/nowhere/a", metadata: {} };
  const asked: unknown[] = [];
  const app = {
    policyFor: () => noPolicy,
    source: {},
    trust: () =>
      Promise.resolve({ mayRunUnasked: (subject: unknown) => (asked.push(subject), Promise.resolve(false)) }),
    findSandbox: () => Promise.reject(new Error("not needed")),
  } as unknown as App;
  const catalog = { ready: ready.promise, find: (name: string) => known.get(name) } as unknown as Catalog;
  const answer = answerRun("execute_skill", { name: "a" }, { app, skills: { catalog, directory: "/p" }, owner: "me" });
  known.set("a", { skill, sources: ["/nowhere"], versions: [skill] } as unknown as OfferedSkill);
  ready.resolve({ skills: [], problems: [] });
  // Not taken for an unknown skill, whose call is refused.
  expect(await answer).toBeUndefined();
  expect(asked).toMatchObject([{ name: "a", source: "/nowhere" }]);
});
