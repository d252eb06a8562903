import { describe, expect, test } from "vitest";
import type { TrustCaller, FullTrustRequest } from "../../../src/runtime/trust.ts";
import type { Answer, Question } from "../../../src/runtime/question.ts";
import { noCapabilities } from "../../../src/skills/permissions.ts";
import type { PublishedOrigin, JudgedSkill } from "../../../src/runtime/trust/grants.ts";
import { checkPolicy } from "../../../src/runtime/trust/policy/check-policy.ts";
import { mergePolicies } from "../../../src/runtime/trust/policy/merge-policies.ts";
import { openTrust } from "./open-trust.ts";

const { signal } = new AbortController();
const source = "https://skills.example.com/acme";
const digest = `sha256:${"a".repeat(64)}`;
const judged: JudgedSkill = {
  name: "rows",
  slug: "rows",
  version: "1.2.0",
  digest,
  isOwn: false,
  source: "/data/remote/sources/x/skills",
  directory: "/data/remote/store/a/rows",
  origin: { source },
};

function requestOf(changes: Partial<JudgedSkill> = {}): FullTrustRequest {
  const nothing = { needs: noCapabilities, wants: noCapabilities };
  return { skill: { ...judged, ...changes }, ...nothing, files: () => Promise.resolve([]) };
}

function personWith(...answers: Answer[]): TrustCaller & { readonly asked: Question[] } {
  const asked: Question[] = [];
  const ask = (question: Question) => {
    asked.push(question);
    return Promise.resolve({ answer: answers.shift() ?? ("not-now" as const) });
  };
  return { owner: "session:1", directory: "/work/shop", transport: "mcp", ask, asked };
}

const nobody: TrustCaller = { owner: "session:1", directory: "/work/shop", transport: "mcp" };

/** The trust of a person on a machine whose organisation has this policy. */
function underPolicy(content: unknown) {
  const file = { file: "/etc/policy.json", origin: "organisation" } as const;
  const checked = checkPolicy(file.file, JSON.stringify(content), "/home/ada");
  expect(checked.problems).toEqual([]);
  return openTrust({ policy: mergePolicies([{ ...file, ...checked }], "/home/ada") }).trust;
}

describe("running a skill from a source", () => {
  test("needs an answer even if it needs nothing beyond its sandbox, and the question says where it is from", async () => {
    const { trust } = openTrust();
    const person = personWith("trust");
    expect(await trust.authorize(requestOf(), person, signal)).toMatchObject({ allowed: true });
    expect(person.asked.map(({ title }) => title)).toEqual([
      `Only its sandbox: run rows 1.2.0 (aaaaaaaaaaaa, from ${source})`,
    ]);
  });

  test("is trusted everywhere once this version is, and asked about again when its bytes change", async () => {
    const { trust } = openTrust();
    await trust.authorize(requestOf(), personWith("trust"), signal);
    const elsewhere = { ...nobody, owner: "session:2", directory: "/work/other" };
    expect(await trust.authorize(requestOf(), elsewhere, signal)).toMatchObject({ allowed: true });
    const changed = requestOf({ digest: `sha256:${"b".repeat(64)}` });
    expect(await trust.authorize(changed, elsewhere, signal)).toMatchObject({ allowed: false });
  });

  test("is refused where there is nobody to ask, with the command that grants it", async () => {
    expect(await openTrust().trust.authorize(requestOf(), nobody, signal)).toEqual({
      allowed: false,
      why: "The skill rows needs approval to run. There is nobody to ask here.",
      hint: `The user can approve exactly this version with: acp-skills approvals grant rows@${digest} --source ${source}`,
    });
  });

  test("is granted by digest, never by bare name", async () => {
    const byName = openTrust({ grants: ["rows"] });
    byName.configured.pin(judged, digest, noCapabilities);
    expect(await byName.trust.authorize(requestOf(), nobody, signal)).toMatchObject({ allowed: false });
    const byDigest = openTrust({ grants: [`rows@${digest}`] });
    expect(await byDigest.trust.authorize(requestOf(), nobody, signal)).toEqual({
      allowed: true,
      by: `--grant rows@${digest}`,
    });
  });

  test("is not allowed by a grant of the configuration when code of another source calls it", async () => {
    const { trust } = openTrust({ grants: [`rows@${digest}`] });
    const calledBy = { name: "other", digest: `sha256:${"c".repeat(64)}`, isOwn: false };
    expect(await trust.authorize({ ...requestOf(), calledBy }, nobody, signal)).toMatchObject({ allowed: false });
  });

  test("can be blocked, which blocks no skill of the same name that is the person's own or of a project", async () => {
    const { trust } = openTrust();
    await trust.authorize(requestOf(), personWith("block"), signal);
    const elsewhere = { ...nobody, directory: "/work/other" };
    expect(await trust.authorize(requestOf(), elsewhere, signal)).toMatchObject({
      why: `The user blocked the skill rows, which is from ${source}.`,
    });
    for (const isOwn of [true, false]) {
      const other = requestOf({ isOwn, origin: undefined });
      expect(await trust.authorize(other, elsewhere, signal)).toMatchObject({ allowed: true });
    }
  });

  test("needs approval in a list of skills, unless it has no code", async () => {
    const { trust } = openTrust();
    const listed = { skill: judged, needs: noCapabilities, digest: () => Promise.resolve(digest) };
    const skills = [
      { ...listed, hasCode: true },
      { ...listed, hasCode: false },
    ];
    expect(await trust.standings(skills, nobody)).toEqual(["needs-approval", "ready"]);
  });
});

test("models may read the skills of a source, because a person named it, until they are blocked", async () => {
  const { trust } = openTrust();
  expect(await trust.mayRead(judged, nobody, signal)).toEqual({ allowed: true, by: "source" });
  await trust.authorize(requestOf(), personWith("block"), signal);
  expect(await trust.mayRead(judged, nobody, signal)).toMatchObject({ allowed: false });
});

describe("policies about sources", () => {
  test("deny a source by the start of its URL: its skills can be neither run nor read", async () => {
    const trust = underPolicy({ sources: { deny: ["https://skills.example.com"] } });
    const why =
      'The policy of your organisation (/etc/policy.json) denies the skill rows, which comes from https://skills.example.com/acme: sources.deny has "https://skills.example.com".';
    expect(await trust.authorize(requestOf(), personWith("trust"), signal)).toMatchObject({ allowed: false, why });
    expect(await trust.mayRead(judged, nobody, signal)).toMatchObject({ allowed: false, why });
    const elsewhere = requestOf({ origin: { source: "https://skills.example.com.evil.org/acme" } });
    expect(await trust.authorize(elsewhere, personWith("once"), signal)).toMatchObject({ allowed: true });
  });

  test("that allow only directories deny all sources", async () => {
    const trust = underPolicy({ sources: { allow: ["/data", "project"] } });
    expect(await trust.authorize(requestOf(), personWith("trust"), signal)).toMatchObject({ allowed: false });
  });

  test("that deny what comes with projects deny no source", async () => {
    const trust = underPolicy({ sources: { deny: ["project"] } });
    expect(await trust.mayRead(judged, nobody, signal)).toMatchObject({ allowed: true });
  });

  test("grant the skills of a source at a commit, if they have the bytes of that commit", async () => {
    const commit = "0a".repeat(20);
    const trust = underPolicy({ grants: [{ source, commit, capabilities: {} }] });
    const at = (origin: PublishedOrigin) => trust.authorize(requestOf({ origin }), nobody, signal);
    expect(await at({ source, commit: { id: commit, digest } })).toMatchObject({
      allowed: true,
      by: expect.stringMatching(/^policy \S+ grants\[0\]$/) as string,
    });
    expect(await at({ source, commit: { id: "0b".repeat(20), digest } })).toMatchObject({ allowed: false });
    const otherBytes = { id: commit, digest: `sha256:${"b".repeat(64)}` };
    expect(await at({ source, commit: otherBytes })).toMatchObject({ allowed: false });
    expect(await at({ source })).toMatchObject({ allowed: false });
  });
});
