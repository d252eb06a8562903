import { describe, expect, test } from "vitest";
import { mergePolicies } from "../../../src/runtime/trust/policy/merge-policies.ts";
import type { Policy } from "../../../src/runtime/trust/policy.ts";
import type { Snapshot } from "../../../src/skills/skill.ts";
import { offer } from "../../acp/memory-skillset.ts";
import { layerOf } from "../trust/policy/layers.ts";
import { openTrust } from "../trust/open-trust.ts";
import { agentSkill, openTools, refusal } from "../tools/open-tools.ts";
import { deniedSkills, noPolicy } from "../../../src/runtime/trust/policy/open-policies.ts";

const policyOf = (content: object | string, origin: "organisation" | "project" = "organisation"): Policy =>
  mergePolicies([layerOf(origin, content)], "/home/ada");

const snapshot: Snapshot = {
  skills: [
    offer("acme.deploy", { license: "MIT License" }),
    { ...offer("acme.log", { license: "See LICENSE.txt" }), isOwn: true },
    offer("pdf"),
  ],
  problems: [],
};

const denied = (policy: Policy): readonly string[] =>
  [...deniedSkills(policy, snapshot).keys()].map(({ name }) => name);

describe("what a policy denies as such", () => {
  test.each([
    [{ skills: { deny: ["acme.*"] } }, ["acme.deploy", "acme.log"]],
    [{ skills: { allow: ["pdf"] } }, ["acme.deploy", "acme.log"]],
    [{ sources: { deny: ["project"] } }, ["acme.deploy", "pdf"]],
    [{ licenses: { deny: ["MIT"] } }, ["acme.deploy"]],
    [{ licenses: { allow: ["Apache-2.0"] } }, ["acme.deploy", "acme.log"]],
    [{ hosts: { deny: ["*"] }, scripts: false }, []],
  ])("%j hides %j; a skill that states no license is judged when it is used", (content, names) => {
    expect(denied(policyOf(content))).toEqual(names);
  });

  test("an invalid policy of a project hides the skills that came with it", () => {
    expect(denied(policyOf("{", "project"))).toEqual(["acme.deploy", "pdf"]);
    expect(denied(policyOf("{", "organisation"))).toEqual([]);
  });

  test("is decided once for a policy and a snapshot, and again for another policy", () => {
    const policy = policyOf({ skills: { deny: ["pdf"] } });
    const first = deniedSkills(policy, snapshot);
    expect(deniedSkills(policy, snapshot)).toBe(first);
    expect(denied(noPolicy)).toEqual([]);
    expect(denied(policyOf({ skills: { deny: ["acme.log"] } }))).toEqual(["acme.log"]);
  });
});

describe("a denied skill", () => {
  const policy = policyOf({ skills: { deny: ["evil"] } });
  const open = async (): ReturnType<typeof openTools> =>
    await openTools({ ...agentSkill("evil"), ...agentSkill("good") }, { trust: openTrust({ policy }).trust });

  test("behaves for models exactly as if it did not exist", async () => {
    const { call } = await open();
    const asModel = { transport: "mcp" } as const;
    expect(JSON.stringify(await call("list_skills", {}, asModel))).not.toContain("evil");
    for (const [tool, args] of [
      ["describe_skill", {}],
      ["read_skill_file", { path: "SKILL.md" }],
      ["execute_skill", { script: "scripts/a.py" }],
    ] as const) {
      const missing = await refusal(call(tool, { name: "missing", ...args }, asModel));
      const hidden = await refusal(call(tool, { name: "evil", ...args }, asModel));
      expect(hidden.code).toBe(missing.code);
      expect(hidden.message).toBe(missing.message.replace("missing", "evil"));
      expect(JSON.stringify({ ...hidden, message: undefined })).not.toContain('"evil"');
    }
  });

  test("is seen by people", async () => {
    const { call } = await open();
    expect(JSON.stringify(await call("list_skills", {}, { transport: "cli" }))).toContain("evil");
  });

  test("that states no license is listed, and judged by its files when a model reads it", async () => {
    const licensed = policyOf({ licenses: { deny: ["unspecified"] } });
    const { call } = await openTools(agentSkill("silent"), { trust: openTrust({ policy: licensed }).trust });
    const asModel = { transport: "mcp" } as const;
    expect(JSON.stringify(await call("list_skills", {}, asModel))).toContain("silent");
    expect(await refusal(call("read_skill_file", { name: "silent", path: "SKILL.md" }, asModel))).toMatchObject({
      code: "PERMISSION_DENIED",
      message:
        "The policy of your organisation (/organisation/acp-skills.policy.json) denies skills without a license: see licenses.deny.",
    });
  });
});
