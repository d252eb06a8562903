import { expect, test } from "vitest";
import type { LedgerEntry } from "../../../src/runtime/ledger.ts";
import { createLocalTrust } from "../../../src/runtime/app/local-trust.ts";
import { readOptions } from "../../../src/runtime/options.ts";
import type { FullTrustRequest } from "../../../src/runtime/trust.ts";
import { noCapabilities } from "../../../src/skills/permissions.ts";
import { type Ask, type Reply, asUserReply } from "../../../src/runtime/question.ts";
import { memoryApprovals } from "../trust/approvals/memory-approvals.ts";
import { noPolicy } from "../../../src/runtime/trust/policy/open-policies.ts";

const { signal } = new AbortController();
const digest = `sha256:${"a".repeat(64)}`;
const wants = { ...noCapabilities, network: ["https://example.org"] };
const request: FullTrustRequest = {
  skill: {
    name: "a.b",
    slug: "a-b",
    version: "1.2.0",
    digest,
    isOwn: true,
    source: "/skills",
    directory: "/skills/a.b",
  },
  needs: wants,
  wants,
  files: () => Promise.resolve([]),
};

async function recorded(reply?: Reply, isShown = true): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = [];
  const ledger = {
    record: (entry: LedgerEntry) => void entries.push(entry),
    // eslint-disable-next-line @typescript-eslint/require-await
    read: async function* () {
      yield* entries;
    },
    close: () => undefined,
  };
  const { trust } = createLocalTrust(readOptions(), {
    approvals: memoryApprovals(),
    ledger,
    policyFor: () => noPolicy,
    now: () => 7,
  });
  const ask: Ask | undefined = reply && ((_question, _signal, shown) => (isShown && shown?.(), Promise.resolve(reply)));
  const asker = { owner: "me", transport: "mcp", sessionId: "s1", ...(ask && { ask }) };
  await trust.authorize(request, asker, signal);
  return entries;
}

const facts = { at: 7, tool: "execute_skill", skill: "a.b", version: "1.2.0", digest, sessionId: "s1", door: "mcp" };
const ask = {
  ...facts,
  event: "ask",
  outcome: "asked",
  about: expect.stringContaining("Host example.org: run") as string,
};

test("the ledger has a question and the answer with the grant that it gave", async () => {
  const grant = expect.stringMatching(/^grant_[0-9a-f]{16}$/) as string;
  expect(await recorded({ answer: "trust" })).toEqual([
    ask,
    { ...facts, event: "answer", outcome: "allowed", answer: "trust", grant },
  ]);
});

test("the ledger says that the editor answered, and not the person", async () => {
  const [, answered] = await recorded(asUserReply({ answer: "trust" }, 1));
  expect(answered).toMatchObject({
    event: "answer",
    outcome: "allowed",
    answer: "once, by the editor itself",
    grant: "once",
  });
});

test("the ledger has a question that was answered by no, and one that was not answered, with the reason", async () => {
  const denied = { ...facts, event: "answer", outcome: "denied" };
  expect(await recorded({ answer: "not-now" })).toEqual([
    ask,
    { ...denied, answer: "not-now", about: expect.stringContaining("The user answered: not now.") as string },
  ]);
  expect(await recorded({ missing: "timeout" })).toEqual([
    ask,
    { ...denied, answer: "timeout", about: expect.stringContaining("did not answer in time") as string },
  ]);
});

test("the ledger has no question that was not shown, but why it was not", async () => {
  const reply = { missing: "failed", detail: "32 other questions are open in this editor" } as const;
  expect(await recorded(reply, false)).toEqual([
    {
      ...facts,
      event: "refusal",
      outcome: "denied",
      answer: "failed",
      about: expect.stringContaining("32 other questions are open in this editor") as string,
    },
  ]);
  expect(await recorded({ answer: "once" }, false)).toMatchObject([{ event: "ask" }, { event: "answer" }]);
});

test("the ledger has a refusal where there is nobody to ask, once", async () => {
  const about = expect.stringContaining("There is nobody to ask here.") as string;
  expect(await recorded()).toEqual([{ ...facts, event: "refusal", outcome: "denied", about }]);
});
