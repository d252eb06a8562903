import * as fc from "fast-check";
import { checkPolicy } from "../../../../src/runtime/trust/policy/check-policy.ts";
import { type Capabilities, noCapabilities } from "../../../../src/skills/permissions.ts";
import type { JudgedSkill } from "../../../../src/runtime/trust/grants.ts";
import type { PolicyLayer } from "../../../../src/runtime/trust/policy/layers.ts";

export const home = "/home/ada";

/** A file with this content; text that is not a valid policy makes a layer that cannot be used. */
export function layerOf(origin: PolicyLayer["origin"], content: object | string): PolicyLayer {
  const file = `/${origin}/acp-skills.policy.json`;
  return { origin, file, ...checkPolicy(file, typeof content === "string" ? content : JSON.stringify(content), home) };
}

export const digest = `sha256:${"0a".repeat(32)}`;

export function subjectOf(facts: Partial<JudgedSkill> = {}): JudgedSkill {
  const name = facts.name ?? "acme.deploy";
  return {
    name,
    slug: name.replaceAll(".", "-"),
    version: "1.0.0",
    digest,
    isOwn: true,
    source: "/home/ada/.agents/skills",
    directory: `/home/ada/.agents/skills/${name}`,
    license: () => "MIT",
    ...facts,
  };
}

export function wanting(wants: Partial<Capabilities>): Capabilities {
  return { ...noCapabilities, ...wants };
}

const few = <Item>(...items: readonly Item[]): fc.Arbitrary<Item[]> => fc.subarray([...items]);
const rules = (...entries: readonly string[]): fc.Arbitrary<object> =>
  fc.record({ allow: few(...entries), deny: few(...entries) }, { requiredKeys: [] });
const hosts = ["*", "x.org", "*.x.org", "a.x.org", "https://a.x.org", "http://b.x.org:8080"];
const origins = ["https://x.org", "https://*.x.org", "https://a.x.org", "http://b.x.org:8080"];

export const anyWants: fc.Arbitrary<Capabilities> = fc
  .record(
    {
      network: few(...origins),
      secrets: few("KEY", "ACME_KEY"),
      project: fc.constantFrom("none", "read", "write"),
      isolation: fc.constant("none" as const),
    },
    { requiredKeys: ["network", "secrets", "project"] },
  )
  .map(wanting);

export const anySubject: fc.Arbitrary<JudgedSkill> = fc
  .record({
    name: fc.constantFrom("acme.deploy", "acme.log", "pdf", "acme-deploy"),
    isOwn: fc.boolean(),
    source: fc.constantFrom("/home/ada/.agents/skills", "/opt/skills"),
    license: fc.constantFrom("MIT", "GPL-3.0-only", "unspecified").map((id) => () => id),
  })
  .map(subjectOf);

const grant = fc.record({
  skill: fc.constantFrom("acme.deploy", "pdf"),
  digest: fc.constant(digest),
  capabilities: fc.record({ network: few(...origins), secrets: few("KEY"), project: fc.constantFrom("none", "write") }),
});

/** Contents of policy files: nearly all are valid, some contradict themselves. */
export const anyContent: fc.Arbitrary<object> = fc.record(
  {
    runs: fc.constantFrom("sandbox", "ask"),
    reads: fc.constantFrom("allow", "ask"),
    approvals: fc.constantFrom("everywhere", "project", "session", "once", "none"),
    prompts: fc.boolean(),
    answers: fc.boolean(),
    scripts: fc.boolean(),
    worktrees: fc.constantFrom("shared", "separate"),
    isolation: fc.constantFrom("none", "sandbox"),
    project: fc.constantFrom("write", "read", "none"),
    skills: rules("*", "acme.*", "pdf", "acme.deploy"),
    sources: rules("project", "~/.agents", "/opt/skills"),
    licenses: rules("MIT", "unspecified"),
    hosts: rules(...hosts),
    secrets: rules("*", "ACME_*", "KEY"),
    grants: fc.array(grant, { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
