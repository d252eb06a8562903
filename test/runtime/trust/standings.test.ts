import { expect, test } from "vitest";
import { noCapabilities } from "../../../src/skills/permissions.ts";
import type { Policy } from "../../../src/runtime/trust/policy.ts";
import type { Standing, StandingSkill } from "../../../src/runtime/trust/personal-trust.ts";
import { openTrust } from "./open-trust.ts";

const digest = `sha256:${"0a".repeat(32)}`;
const asker = { owner: "ada", directory: "/project" };
const network = { ...noCapabilities, network: ["https://api.example.com"] };

function skill(name: string, facts: Partial<StandingSkill> & { readonly isOwn?: boolean } = {}): StandingSkill {
  const { isOwn = true, ...rest } = facts;
  const source = "/home/ada/.agents/skills";
  const judged = { name, slug: name, version: "1.0.0", isOwn, source, directory: `${source}/${name}` };
  return { skill: judged, needs: noCapabilities, hasCode: false, digest: () => Promise.resolve(digest), ...rest };
}

async function standing(one: StandingSkill, policy: Partial<Policy> = {}): Promise<Standing | undefined> {
  const [found] = await openTrust({ policy }).trust.standings([one], asker);
  return found;
}

const unread = (): Promise<string> => Promise.reject(new Error("The files were hashed."));

test("a skill that wants nothing is ready, and its files are not read", async () => {
  expect(await standing(skill("pdf", { digest: unread }))).toBe("ready");
  expect(await standing(skill("pdf", { digest: unread }), { runs: "ask" })).toBe("ready");
});

test("a skill that wants something needs an approval, as does code where a policy demands one", async () => {
  expect(await standing(skill("pdf", { needs: network }))).toBe("needs-approval");
  expect(await standing(skill("pdf", { needs: network, digest: () => Promise.resolve(undefined) }))).toBe(
    "needs-approval",
  );
  expect(await standing(skill("pdf", { hasCode: true }), { runs: "ask" })).toBe("needs-approval");
  // Nobody can approve it then.
  expect(await standing(skill("pdf", { needs: network }), { approvals: "none" })).toBe("denied");
  expect(await standing(skill("pdf", { hasCode: true }), { approvals: "none" })).toBe("ready");
});

test("what a policy denies is denied, even if a person blocked it", async () => {
  const refusal = { why: "The policy denies it.", hint: "Ask your administrator." };
  const { trust } = openTrust({ policy: { denies: ({ name }) => (name === "evil" ? refusal : undefined) } });
  const skills = [skill("pdf"), skill("evil", { needs: network, digest: unread })];
  expect(await trust.standings(skills, asker)).toEqual(["ready", "denied"]);
});

test("an answer changes how skills stand, and is announced", async () => {
  const { trust } = openTrust();
  let changes = 0;
  const stop = trust.onChange(() => changes++);
  const one = skill("pdf", { needs: network });
  const { skill: judged } = one;
  const request = { about: "run", skill: { ...judged, digest }, needs: network, wants: network } as const;
  const person = { ...asker, transport: "acp", sessionId: undefined, ask: undefined };
  await trust.answered({ ...request, files: () => Promise.resolve([]) }, person, { answer: "trust" });
  expect(await trust.standings([one, skill("doc", { needs: network })], asker)).toEqual(["ready", "needs-approval"]);
  expect(changes).toBeGreaterThan(0);
  const changed = { ...one, digest: () => Promise.resolve(`sha256:${"0b".repeat(32)}`) };
  expect(await trust.standings([changed], asker)).toEqual(["needs-approval"]);
  await trust.answered({ ...request, files: () => Promise.resolve([]) }, person, { answer: "block" });
  expect(await trust.standings([one, skill("pdf", { isOwn: false })], asker)).toEqual(["blocked", "ready"]);
  const before = changes;
  stop();
  await trust.answered({ ...request, files: () => Promise.resolve([]) }, person, { answer: "block" });
  expect(changes).toBe(before);
});
