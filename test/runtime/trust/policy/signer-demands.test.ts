import { expect, test } from "vitest";
import type { Signature } from "../../../../src/skills/signature.ts";
import { checkPolicy } from "../../../../src/runtime/trust/policy/check-policy.ts";
import { mergePolicies } from "../../../../src/runtime/trust/policy/merge-policies.ts";

const home = "/home/ada";
const key = `SHA256:${"k".repeat(43)}`;
const [identity, issuer] = [
  "https://github.com/acme/skills/.github/workflows/x.yml@refs/heads/main",
  "https://ci.example",
];
const skill = {
  name: "pdf",
  slug: "pdf",
  isOwn: false,
  source: "/work/project/.agents/skills",
  directory: "/work/project/.agents/skills/pdf",
};
const byKey: Signature = { state: "signed", signer: { key } };
const byIdentity: Signature = { state: "signed", signer: { identity, issuer } };

function policyOf(...texts: readonly object[]) {
  const layers = texts.map((text, place) => {
    const file = `/etc/policy-${place}.json`;
    const checked = checkPolicy(file, JSON.stringify(text), home);
    expect(checked.problems).toEqual([]);
    return { origin: place === 0 ? "organisation" : "project", file, ...checked } as const;
  });
  return mergePolicies(layers, home);
}

async function refusal(policy: ReturnType<typeof policyOf>, signature: Signature, of: object = skill) {
  const found = await policy.deniesSigner?.(of as typeof skill, () => Promise.resolve(signature));
  return found?.why;
}

test("without a demand, nobody looks at signatures", () => {
  expect(policyOf({ runs: "ask" }).deniesSigner).toBeUndefined();
});

test("a demand accepts the signers that it names, and refuses others, none, and what proves nothing, by name", async () => {
  const policy = policyOf({
    signers: [{ source: "*", accept: [{ key }, { identity: "https://github.com/acme/*", issuer }] }],
  });
  expect(await refusal(policy, byKey)).toBeUndefined();
  expect(await refusal(policy, byIdentity)).toBeUndefined();
  const rule = "signers[0] accepts other signers.";
  const start = "The policy of your organisation (/etc/policy-0.json) denies the skill pdf,";
  expect(await refusal(policy, { state: "unsigned" })).toBe(`${start} which is not signed: ${rule}`);
  expect(await refusal(policy, { state: "invalid", why: "its bundle is damaged" })).toBe(
    `${start} whose signature is INVALID: its bundle is damaged: ${rule}`,
  );
  const other = { key: `SHA256:${"o".repeat(43)}` };
  expect(await refusal(policy, { state: "signed", signer: other })).toContain(`which is signed with key ${other.key}`);
  for (const signer of [
    { identity: "https://github.com/acme", issuer },
    { identity: identity.replace("acme", "evil/acme"), issuer },
    { identity, issuer: "https://other.example" },
  ])
    expect(await refusal(policy, { state: "signed", signer })).toContain("denies the skill pdf");
});

test("a demand is for its source only, wherever that is spelt otherwise, and each layer's counts", async () => {
  const policy = policyOf({ signers: [{ source: "https://skills.example/acme", accept: [{ key }] }] });
  const unsigned: Signature = { state: "unsigned" };
  expect(await refusal(policy, unsigned)).toBeUndefined();
  for (const url of [
    "https://skills.example/acme/index.json",
    "http://www.SKILLS.example/acme/x",
    "https://skills.example/acme.git",
  ])
    expect(await refusal(policy, unsigned, { name: "pdf", url }), url).toContain("not signed");
  expect(await refusal(policy, unsigned, { name: "pdf", url: "https://skills.example/acmed" })).toBeUndefined();
  const origin = { source: "https://skills.example/acme" };
  expect(await refusal(policy, unsigned, { ...skill, origin })).toContain("not signed");
  const both = policyOf(
    { signers: [{ source: "project", accept: [{ key }] }] },
    { signers: [{ source: "*", accept: [{ identity, issuer }] }] },
  );
  expect(await refusal(both, byKey)).toContain("The policy of this project");
  expect(await refusal(both, byIdentity)).toContain("The policy of your organisation");
});

test.each([
  [{ signers: [{ source: "*" }] }, '"accept" is missing'],
  [{ signers: [{ accept: [] }] }, '"source" is missing'],
  [{ signers: [{ source: "acme", accept: [] }] }, 'invalid value of "source"'],
  [{ signers: [{ source: "*", accept: [{ key: "abc" }] }] }, "not a signer"],
  [{ signers: [{ source: "*", accept: [{ identity }] }] }, "not a signer"],
  [{ signers: [{ source: "*", accept: [{ identity: "*****", issuer }] }] }, "not a signer"],
  [{ signers: [{ source: "*", accept: [{ key, issuer }] }] }, "not a signer"],
  [{ signers: {} }, "signers is a list"],
])("%j is refused: %s", (text, message) => {
  const { policy, problems } = checkPolicy("/etc/policy.json", JSON.stringify(text), home);
  expect(policy).toBeUndefined();
  expect(problems.map((problem) => problem.message).join()).toContain(message);
});
