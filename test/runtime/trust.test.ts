import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { ApprovalStore } from "../../src/runtime/trust/approvals.ts";
import type { CopiedFile } from "../../src/skills/files.ts";
import { ConfiguredGrants } from "../../src/runtime/trust/configured-grants.ts";
import type { TrustCaller, FullTrustRequest } from "../../src/runtime/trust.ts";
import { type Capabilities, noCapabilities } from "../../src/skills/permissions.ts";
import type { Answer, Ask, Question, Reply } from "../../src/runtime/question.ts";
import { manualClock } from "../manual-clock.ts";
import { memoryApprovals } from "./trust/approvals/memory-approvals.ts";
import { openTrust } from "./trust/open-trust.ts";

const { signal } = new AbortController();
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const network: Capabilities = { ...noCapabilities, network: ["https://api.example"] };
const judged = {
  name: "deploy",
  slug: "deploy",
  version: "1.2.0",
  digest: digest("a"),
  isOwn: true,
  source: "/home/ada/.agents/skills",
  directory: "/skills/a",
};

function fileOf(path: string, text: string): CopiedFile {
  return { path, sha256: hash("sha256", text), text };
}

function requestOf(changes: Partial<FullTrustRequest> = {}): FullTrustRequest {
  return {
    skill: judged,
    needs: network,
    wants: network,
    files: () => Promise.resolve([fileOf("SKILL.md", "Deploys.\n")]),
    ...changes,
  };
}

/** A person in a session of an editor, with the answers that they give in turn; then none. */
function personWith(...replies: readonly (Answer | Reply)[]): TrustCaller & { readonly asked: Question[] } {
  const asked: Question[] = [];
  const left = [...replies];
  const ask: Ask = (question) => {
    asked.push(question);
    const next = left.shift() ?? { missing: "nobody" };
    return Promise.resolve(typeof next === "string" ? { answer: next } : next);
  };
  return { owner: "session:1", directory: "/work/shop", transport: "mcp", sessionId: "s1", ask, asked };
}

const nobody: TrustCaller = { owner: "session:1", directory: "/work/shop", transport: "mcp" };

describe("what needs no answer", () => {
  test("a run that needs nothing beyond its sandbox is allowed, and nobody is asked", async () => {
    const person = personWith();
    const request = requestOf({ needs: noCapabilities });
    expect(await openTrust().trust.authorize(request, person, signal)).toEqual({ allowed: true, by: "sandbox" });
    expect(person.asked).toEqual([]);
  });

  test("a policy can demand an answer for every run", async () => {
    const { trust } = openTrust({ policy: { runs: "ask" } });
    const person = personWith("trust");
    const request = requestOf({ needs: noCapabilities, wants: noCapabilities });
    expect(await trust.authorize(request, person, signal)).toMatchObject({ allowed: true });
    expect(person.asked.map(({ title }) => title)).toEqual(["Only its sandbox: run deploy 1.2.0 (aaaaaaaaaaaa)"]);
    await trust.authorize(request, person, signal);
    expect(person.asked).toHaveLength(1);
  });
});

describe("where there is nobody to ask", () => {
  test("it is refused, with the reason and what the user can do", async () => {
    expect(await openTrust().trust.authorize(requestOf(), nobody, signal)).toEqual({
      allowed: false,
      why: "The skill deploy needs approval to connect to api.example. There is nobody to ask here.",
      hint: `The user can approve exactly this version with: acp-skills approvals grant deploy@${digest("a")}`,
    });
  });

  test.each([
    [{ prompts: false }, "There is nobody to ask here."],
    [{ approvals: "none" as const }, "A policy does not let users approve the skill deploy."],
  ])("the policy %j asks nobody", async (policy, why) => {
    const person = personWith("trust");
    const outcome = await openTrust({ policy }).trust.authorize(requestOf(), person, signal);
    expect(outcome).toMatchObject({ allowed: false, why: expect.stringContaining(why) as string });
    expect(person.asked).toEqual([]);
  });
});

describe("an answer", () => {
  test("once: allows this call only", async () => {
    const { trust, store } = openTrust();
    const person = personWith("once", "once");
    expect(await trust.authorize(requestOf(), person, signal)).toEqual({ allowed: true, by: "once" });
    expect(await trust.authorize(requestOf(), person, signal)).toEqual({ allowed: true, by: "once" });
    expect(person.asked).toHaveLength(2);
    expect(await store.scopes()).toEqual([]);
  });

  test("trust: is stored with the digest and everything that the skill wants, and nobody is asked again, in any session", async () => {
    const { trust, store } = openTrust();
    const person = personWith("trust");
    const wants = network;
    const outcome = await trust.authorize(requestOf({ wants }), person, signal);
    const { grants } = await store.read("everywhere");
    expect(grants).toEqual([
      {
        id: expect.stringMatching(/^grant_[0-9a-f]{16}$/) as string,
        skill: "deploy",
        version: "1.2.0",
        digest: digest("a"),
        capabilities: wants,
        from: "own",
        who: "ada",
        when: "2026-01-01T00:00:00.000Z",
        via: "mcp",
      },
    ]);
    expect(outcome).toEqual({ allowed: true, by: grants[0]?.id });
    const other = { ...nobody, owner: "session:2", directory: "/work/other" };
    expect(await trust.authorize(requestOf({ wants }), other, signal)).toEqual(outcome);
    expect(await store.readCopy(digest("a"))).toMatchObject([{ path: "SKILL.md", text: "Deploys.\n" }]);
  });

  test("a skill of a project is no next version of the person's own skill of the name, and the question says so", async () => {
    const { trust } = openTrust();
    await trust.authorize(requestOf({ wants: network }), personWith("trust"), signal);
    const ofProject = {
      ...judged,
      version: "1.2.1",
      digest: digest("b"),
      isOwn: false,
      directory: "/work/shop/deploy",
    };
    const person = personWith("trust");
    await trust.authorize(requestOf({ skill: ofProject, wants: network }), person, signal);
    expect(person.asked[0]?.title).toContain(
      "run deploy, not your own skill deploy, 1.2.1 (bbbbbbbbbbbb, from this project)",
    );
    expect(person.asked[0]?.title).not.toContain("changed since");
    expect(person.asked[0]).toMatchObject({ changed: [], widened: [] });

    const next = personWith("not-now");
    await trust.authorize(requestOf({ skill: { ...ofProject, digest: digest("c") }, wants: network }), next, signal);
    expect(next.asked[0]?.title).toContain("changed since 1.2.1 (bbbbbbbbbbbb) was approved");
    const own = personWith("not-now");
    await trust.authorize(requestOf({ skill: { ...judged, digest: digest("d") }, wants: network }), own, signal);
    expect(own.asked[0]?.title).toContain("not the skill deploy of this project");
    expect(own.asked[0]?.title).toContain("changed since 1.2.0");
  });

  test.each([
    ["came with a project", requestOf({ skill: { ...judged, isOwn: false } })],
    ["wants the project", requestOf({ wants: { ...network, project: "write" }, needs: network })],
  ])("trust in a skill that %s is for this project only", async (_, request) => {
    const { trust, store } = openTrust();
    const person = personWith("trust");
    await trust.authorize(request, person, signal);
    expect(person.asked[0]?.options[1]?.label).toBe("Trust this exact version in this project");
    expect(await store.scopes()).toEqual([{ project: "/work/shop" }]);
    expect(await trust.authorize(request, nobody, signal)).toMatchObject({ allowed: true });
    expect(await trust.authorize(request, { ...nobody, directory: "/work/other" }, signal)).toMatchObject({
      allowed: false,
    });
  });

  test.each([
    ["once" as const, 3, 0],
    ["session" as const, 4, 0],
    ["project" as const, 4, 1],
  ])("reaches no further than the policy allows: %s", async (approvals, options, stored) => {
    const { trust, store } = openTrust({ policy: { approvals } });
    const person = personWith("trust", "trust");
    expect(await trust.authorize(requestOf(), person, signal)).toMatchObject({ allowed: true });
    expect(person.asked[0]?.options).toHaveLength(options);
    expect(await store.scopes()).toHaveLength(stored);
    await trust.authorize(requestOf(), person, signal);
    expect(person.asked).toHaveLength(approvals === "once" ? 2 : 1);
    trust.endSession(person.owner);
    await trust.authorize(requestOf(), person, signal);
    expect(person.asked).toHaveLength({ once: 3, session: 2, project: 1 }[approvals]);
  });

  test("grants that reach further than a new policy allows no longer count", async () => {
    const { trust, store } = openTrust();
    await trust.authorize(requestOf(), personWith("trust"), signal);
    const stricter = openTrust({ store, policy: { approvals: "project" } }).trust;
    expect(await stricter.authorize(requestOf(), nobody, signal)).toMatchObject({ allowed: false });
  });

  test("not now: refuses, and is not asked again, changed or not, until the person invokes the skill", async () => {
    const { trust } = openTrust();
    const person = personWith("not-now", "once");
    const refused = { allowed: false, why: expect.stringContaining("The user answered: not now.") as string };
    expect(await trust.authorize(requestOf(), person, signal)).toMatchObject(refused);
    expect(await trust.authorize(requestOf(), person, signal)).toMatchObject(refused);
    trust.newTurn(person.owner);
    const changed = requestOf({ skill: { ...judged, digest: digest("b") } });
    expect(await trust.authorize(changed, person, signal)).toMatchObject({
      ...refused,
      hint: expect.stringMatching(/They are asked again in this session if they write \/deploy\.$/) as string,
    });
    expect(person.asked).toHaveLength(1);
    trust.consent(person.owner, "/elsewhere");
    expect(await trust.authorize(changed, person, signal)).toMatchObject(refused);
    trust.consent(person.owner, judged.directory);
    expect(await trust.authorize(changed, person, signal)).toEqual({ allowed: true, by: "once" });
  });

  test("after three answers that are no yes, nothing is asked until the person's next prompt", async () => {
    const logged: string[] = [];
    const { trust } = openTrust({ log: (_level, message) => void logged.push(message) });
    const person = personWith("not-now", "once", "not-now", "not-now", "once");
    const of = (place: number): FullTrustRequest =>
      requestOf({ skill: { ...judged, name: `deploy-${place}`, directory: `/skills/deploy-${place}` } });
    for (let place = 1; place <= 60; place += 1)
      expect(await trust.authorize(of(place), person, signal)).toMatchObject({ allowed: place === 2 });
    expect(person.asked).toHaveLength(4);
    const why =
      "Three questions of this turn were not answered with yes: no more are asked until the user writes again.";
    expect(await trust.authorize(of(60), person, signal)).toMatchObject({ allowed: false, why });
    expect(
      await trust.mayRead({ ...judged, isOwn: false, source: "/work/shop/.agents/skills" }, person, signal),
    ).toMatchObject({ allowed: false, why });
    expect(await trust.questionFor(of(60), person)).toBeUndefined();
    expect(logged.filter((line) => line === why)).toHaveLength(1);
    trust.newTurn(person.owner);
    expect(await trust.authorize(of(60), person, signal)).toMatchObject({ allowed: true });
    expect(await trust.authorize(of(1), person, signal)).toMatchObject({ allowed: false });
  });

  test("of which three are no yes are all that is asked about 60 skills at the same time", async () => {
    const { trust } = openTrust();
    const person = personWith("once", "not-now", { missing: "cancelled" }, "block", "once");
    const outcomes = Array.from({ length: 60 }, (_, place) => {
      const request = requestOf({ skill: { ...judged, name: `deploy-${place}`, directory: `/skills/${place}` } });
      return trust.authorize(request, person, new AbortController().signal);
    });
    expect((await Promise.all(outcomes)).filter(({ allowed }) => allowed)).toHaveLength(1);
    expect(person.asked).toHaveLength(4);
  });

  test("that was not asked for, a block in the browser, does not end the questions", async () => {
    const { trust } = openTrust();
    for (const name of ["a", "b", "c", "d"])
      await trust.answered(requestOf({ skill: { ...judged, name } }), nobody, { answer: "block" });
    expect(await trust.authorize(requestOf(), personWith("once"), signal)).toMatchObject({ allowed: true });
  });

  test("block: refuses every version of the skill from there, also in other sessions, until it is revoked", async () => {
    const { trust, store } = openTrust();
    const blocked = { allowed: false, why: "The user blocked the skill deploy." };
    expect(await trust.authorize(requestOf(), personWith("block"), signal)).toMatchObject(blocked);
    const person = personWith("trust");
    const newer = requestOf({ skill: { ...judged, digest: digest("b") }, needs: noCapabilities });
    expect(await trust.authorize(newer, { ...person, owner: "session:2" }, signal)).toMatchObject(blocked);
    const ofProject = requestOf({ skill: { ...judged, isOwn: false } });
    expect(await trust.authorize(ofProject, person, signal)).toMatchObject({ allowed: true });
    await store.change("everywhere", (approvals) => ({ ...approvals, blocks: [] }));
    expect(await trust.authorize(newer, person, signal)).toMatchObject({ allowed: true });
  });

  test.each([
    ["timeout", "The user did not answer in time."],
    ["cancelled", "The question was cancelled."],
  ] as const)(
    "a question with the answer %s is not asked again in that turn, and the reason stays the same",
    async (missing, why) => {
      const { trust } = openTrust();
      const person = personWith({ missing }, "once");
      const refused = { allowed: false, why: expect.stringContaining(why) as string };
      expect(await trust.authorize(requestOf(), person, signal)).toMatchObject(refused);
      expect(await trust.authorize(requestOf(), person, signal)).toMatchObject(refused);
      expect(person.asked).toHaveLength(1);
      trust.newTurn(person.owner);
      expect(await trust.authorize(requestOf(), person, signal)).toMatchObject({ allowed: true });
    },
  );

  test.each(["cancelled", "timeout", "failed"] as const)("%s: allows nothing", async (missing) => {
    const { trust, store } = openTrust();
    const person = personWith({ missing, detail: "no such option" });
    expect(await trust.authorize(requestOf(), person, signal)).toMatchObject({ allowed: false });
    expect(await store.scopes()).toEqual([]);
  });

  test("to a question about a skill that was deleted meanwhile grants nothing", async () => {
    const { trust, store } = openTrust();
    const gone = requestOf({ files: () => Promise.reject(new Error("The skill deploy changed before it ran.")) });
    await expect(trust.authorize(gone, personWith("trust"), signal)).rejects.toThrow("changed before it ran");
    expect(await store.scopes()).toEqual([]);
  });

  test("that cannot be stored counts for the session, and that is logged", async () => {
    const logged: string[] = [];
    const { store } = openTrust();
    const full = { ...store, change: () => Promise.reject(new Error("no space left")) };
    const { trust } = openTrust({ store: full, log: (_level, message) => void logged.push(message) });
    const person = personWith("trust");
    expect(await trust.authorize(requestOf(), person, signal)).toEqual({ allowed: true, by: "session" });
    expect(await trust.authorize(requestOf(), person, signal)).toEqual({ allowed: true, by: "session" });
    expect(logged).toEqual([expect.stringContaining("no space left")]);
  });

  test.for([
    ["trust", "run"],
    ["block", "run"],
    ["trust", "read"],
    ["block", "read"],
  ] as const)("that is stored is recorded before it is in force, once: %s of a %s", async ([answer, about]) => {
    const memory = memoryApprovals();
    const answered = () => events.filter(({ type }) => type === "answered").length;
    const recorded: number[] = [];
    const store: ApprovalStore = {
      ...memory,
      change: async (scope, change) => {
        // Another process was faster: it is called again.
        await memory.read(scope).then(change);
        return await memory.change(scope, (before) => {
          const after = change(before);
          recorded.push(answered());
          return after;
        });
      },
    };
    const { trust, events } = openTrust({ store });
    const skill = { ...judged, isOwn: false, source: "/work/shop/.agents/skills" };
    const asked = personWith(answer);
    if (about === "run") await trust.authorize(requestOf({ skill }), asked, signal);
    else await trust.mayRead(skill, asked, signal);
    expect([recorded, answered()]).toEqual([[1], 1]);

    const [grant] = (await trust.approvalsFor("/work/shop")).flatMap(({ grants }) => grants);
    let taken = 0;
    if (about === "run")
      await trust.takeBack(grant === undefined ? { blocksOf: skill } : { grant: grant.id }, nobody, () => taken++);
    expect(taken).toBe(about === "run" ? 1 : 0);
  });
});

describe("a version that changed", () => {
  const before = fileOf("SKILL.md", "Deploys.\n");
  const after = fileOf("SKILL.md", "Deploys and reports.\n");

  test("asks again and shows what changed, widened capabilities first", async () => {
    const { trust } = openTrust();
    await trust.authorize(requestOf({ files: () => Promise.resolve([before]) }), personWith("trust"), signal);
    const person = personWith("not-now");
    const wants = { ...network, network: [...network.network, "https://evil.example"], secrets: ["API_KEY"] };
    const changed = requestOf({
      skill: { ...judged, version: "1.3.0", digest: digest("b") },
      needs: wants,
      wants,
      files: () => Promise.resolve([after, fileOf("new.py", "print()\n")]),
    });
    await trust.authorize(changed, person, signal);
    expect(person.asked).toMatchObject([
      {
        title:
          "NEW: secret API_KEY, host evil.example; as before: host api.example: run deploy 1.3.0 (bbbbbbbbbbbb), changed since 1.2.0 (aaaaaaaaaaaa) was approved",
        widened: ["can read the value of API_KEY", "may connect to evil.example"],
        changed: [
          { path: "SKILL.md", before: before.text, after: after.text },
          { path: "new.py", after: "print()\n" },
        ],
      },
    ]);
  });
});

describe("questions that are asked at the same time", () => {
  test("are one question, if they are the same", async () => {
    const { trust } = openTrust();
    const person = personWith("trust");
    const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => trust.authorize(requestOf(), person, signal)));
    expect(person.asked).toHaveLength(1);
    expect(new Set(outcomes.map((outcome) => outcome.allowed && outcome.by)).size).toBe(1);
  });

  test("are asked again if the answer was for one call, and not if it was a refusal", async () => {
    const { trust } = openTrust();
    const once = personWith("once", "not-now");
    const outcomes = await Promise.all([1, 2, 3].map(() => trust.authorize(requestOf(), once, signal)));
    expect(outcomes.map(({ allowed }) => allowed)).toEqual([true, false, false]);
    expect(once.asked).toHaveLength(2);
  });

  test("a call that is cancelled leaves the question to the others", async () => {
    const { trust } = openTrust();
    const replies: ((reply: Reply) => void)[] = [];
    const ask: Ask = (_question, gone) =>
      new Promise((resolve, reject) => {
        replies.push(resolve);
        gone.addEventListener("abort", () => reject(gone.reason as Error));
      });
    const person = { ...personWith(), ask };
    const first = new AbortController();
    const cancelled = trust.authorize(requestOf(), person, first.signal);
    const waiting = trust.authorize(requestOf(), person, signal);
    await expect.poll(() => replies.length).toBe(1);
    first.abort(new Error("no longer wanted"));
    await expect(cancelled).rejects.toThrow("no longer wanted");
    await expect.poll(() => replies.length).toBe(2);
    replies[1]?.({ answer: "trust" });
    expect(await waiting).toMatchObject({ allowed: true });
  });

  test.each<[Answer, object]>([
    ["trust", { allowed: true }],
    ["block", { allowed: false, why: expect.stringContaining("blocked") as string }],
  ])(
    "one that another window answered with %s is withdrawn, and its call goes on with that",
    async (answer, outcome) => {
      const clock = manualClock();
      const { trust, store, events } = openTrust({ clock });
      const ask: Ask = (_question, gone) =>
        new Promise((_resolve, reject) => gone.addEventListener("abort", () => reject(gone.reason as Error)));
      const waiting = trust.authorize(requestOf(), { ...personWith(), ask }, signal);
      await expect.poll(() => clock.pending).toBe(1);
      clock.pass(1_000);
      await expect.poll(() => clock.pending).toBe(1);
      await openTrust({ store }).trust.authorize(requestOf(), personWith(answer), signal);
      clock.pass(1_000);
      expect(await waiting).toMatchObject(outcome);
      expect(events.at(-1)).toMatchObject({ type: "answered", answer: "elsewhere" });
      expect(clock.pending).toBe(0);
    },
  );

  test("an answer in another window that blocks the skill wins over one that allows it", async () => {
    const { trust, store } = openTrust();
    const ask: Ask = async () => {
      const block = { skill: "deploy", from: "own" as const, who: "ada", when: "2026-01-01T00:00:00.000Z", via: "mcp" };
      await store.change("everywhere", (approvals) => ({ ...approvals, blocks: [block] }));
      return { answer: "trust" };
    };
    expect(await trust.authorize(requestOf(), { ...personWith(), ask }, signal)).toMatchObject({ allowed: false });
    expect((await store.read("everywhere")).grants).toEqual([]);
  });
});

describe("skills that came with a project", () => {
  const skill = {
    name: "notes",
    slug: "notes",
    version: "1.0.0",
    isOwn: false,
    source: "/work/shop/.agents/skills",
    directory: "/work/shop/.agents/skills/notes",
  };

  test("are read by models once a person trusts the project, and not before", async () => {
    const { trust, store } = openTrust();
    expect(await trust.mayRead(skill, nobody, signal)).toEqual({
      allowed: false,
      why: "The skill notes came with a project whose skills the user has not trusted, so its instructions cannot be read. There is nobody to ask here.",
      hint: "The user can invoke it with /notes, or trust the project's skills with: acp-skills approvals grant --project --cwd /work/shop",
    });
    const person = personWith("trust");
    expect(await trust.mayRead(skill, person, signal)).toMatchObject({ allowed: true });
    expect(person.asked.map(({ title }) => title)).toEqual([
      "Let the model read the instructions of notes and the other skills that came with this project (/work/shop)",
    ]);
    expect(await trust.mayRead({ ...skill, name: "other" }, nobody, signal)).toMatchObject({ allowed: true });
    expect((await store.read({ project: "/work/shop" })).trusted).toMatchObject({ who: "ada" });
    const elsewhere = { ...skill, source: "/work/evil/.agents/skills", directory: "/skills/a" };
    expect(await trust.mayRead(elsewhere, nobody, signal)).toMatchObject({ allowed: false });
  });

  test("are asked about again where another repository is at the path of a trusted project, whose blocks still count", async () => {
    let repository = "first";
    const { trust, store } = openTrust({ repositoryAt: () => repository });
    await trust.mayRead(skill, personWith("trust"), signal);
    const bad = { ...skill, name: "bad", slug: "bad" };
    expect(await trust.mayRead(bad, nobody, signal)).toMatchObject({ allowed: true });
    await store.change({ project: "/work/shop" }, (before) => ({
      ...before,
      blocks: [{ skill: "bad", from: "project", who: "ada", when: "2026-01-01T00:00:00.000Z", via: "test" }],
    }));
    repository = "second";
    expect(await trust.mayRead(skill, nobody, signal)).toMatchObject({ allowed: false });
    const person = personWith("trust", "trust");
    expect(await trust.mayRead(skill, person, signal)).toMatchObject({ allowed: true });
    expect(person.asked).toHaveLength(1);
    expect(await trust.mayRead(bad, person, signal)).toMatchObject({ allowed: false });
    repository = "first";
    expect(await trust.mayRead(skill, nobody, signal)).toMatchObject({ allowed: false });
  });

  test("are asked about again in the same session where the repository was replaced", async () => {
    for (const answer of ["once", "trust"] as const) {
      let repository = "first";
      const { trust } = openTrust({ repositoryAt: () => repository, policy: { approvals: "session" } });
      const person = personWith(answer, "not-now");
      expect(await trust.mayRead(skill, person, signal)).toMatchObject({ allowed: true });
      expect(await trust.mayRead(skill, person, signal)).toMatchObject({ allowed: true });
      repository = "second";
      expect(await trust.mayRead(skill, person, signal)).toMatchObject({ allowed: false });
    }
  });

  test("belong to the repository that they are in, also where it lies inside the trusted project", async () => {
    const inner = "/work/shop/.agents/skills/pkg";
    const projectOf = (directory: string, _worktrees: unknown, without?: string): string =>
      directory.startsWith(inner) ? inner : (without ?? directory);
    const { trust } = openTrust({ projectOf });
    await trust.mayRead(skill, personWith("trust"), signal);
    const nested = { ...skill, name: "nested", slug: "nested", directory: `${inner}/nested` };
    expect(await trust.mayRead(nested, nobody, signal)).toMatchObject({
      allowed: false,
      hint: `The user can invoke it with /nested, or trust the project's skills with: acp-skills approvals grant --project --cwd ${inner}`,
    });
  });

  test("may be read until the next prompt, if a person allows it once", async () => {
    const { trust } = openTrust();
    const person = personWith("once");
    await trust.mayRead(skill, person, signal);
    expect(await trust.mayRead({ ...skill, name: "other" }, nobody, signal)).toMatchObject({ allowed: true });
    trust.newTurn(person.owner);
    expect(await trust.mayRead(skill, nobody, signal)).toMatchObject({ allowed: false });
  });

  test("may be read after a person invoked them, in that session, and others not", async () => {
    const { trust } = openTrust();
    trust.consent(nobody.owner, skill.directory);
    expect(await trust.mayRead(skill, nobody, signal)).toEqual({ allowed: true, by: "consent" });
    const other = { ...skill, name: "other", directory: "/work/shop/.agents/skills/other" };
    expect(await trust.mayRead(other, nobody, signal)).toMatchObject({ allowed: false });
    expect(await trust.mayRead(skill, { ...nobody, owner: "session:2" }, signal)).toMatchObject({ allowed: false });
  });

  test("may be read where the configuration names the project", async () => {
    const { trust } = openTrust({ grants: ["/work/shop"] });
    expect(await trust.mayRead(skill, nobody, signal)).toEqual({ allowed: true, by: "--grant /work/shop" });
  });

  test("are not read if a person blocks them, and the others still can be", async () => {
    const { trust } = openTrust();
    await trust.mayRead(skill, personWith("block"), signal);
    trust.newTurn(nobody.owner);
    expect(await trust.mayRead(skill, personWith("trust"), signal)).toMatchObject({ allowed: false });
    const other = { ...skill, name: "other" };
    expect(await trust.mayRead(other, personWith("trust"), signal)).toMatchObject({ allowed: true });
  });
});

test.each([
  ["one of the person's own", judged],
  ["one of a further directory of the session", { ...judged, isOwn: false, source: "/work/other/.agents/skills" }],
])("a skill that a person blocked when it was to run is not read by models either: %s", async (_, skill) => {
  const { trust } = openTrust();
  await trust.authorize(requestOf({ skill }), personWith("block"), signal);
  expect(await trust.mayRead(skill, personWith("trust"), signal)).toMatchObject({
    allowed: false,
    why: expect.stringContaining("The user blocked the skill deploy") as string,
  });
});

test("every question, answer and refusal is recorded", async () => {
  const { trust, events } = openTrust();
  await trust.authorize(requestOf(), personWith("not-now"), signal);
  await trust.authorize(requestOf(), nobody, signal);
  trust.consent(nobody.owner, judged.directory);
  await trust.authorize(requestOf(), personWith("once"), signal);
  await trust.authorize(requestOf(), nobody, signal);
  expect(events.map(({ type, answer, skill: { digest: bytes } }) => [type, answer, bytes])).toEqual([
    ["asked", undefined, digest("a")],
    ["answered", "not-now", digest("a")],
    ["refused", undefined, digest("a")],
    ["asked", undefined, digest("a")],
    ["answered", "once", digest("a")],
    ["refused", undefined, digest("a")],
  ]);
});

test("a block of a skill of another directory of the session counts for its runs, too", async () => {
  const { trust } = openTrust();
  const skill = { ...judged, isOwn: false, source: "/work/other/.agents/skills" };
  await trust.mayRead(skill, personWith("block"), signal);
  expect(await trust.authorize(requestOf({ skill, needs: noCapabilities }), nobody, signal)).toMatchObject({
    allowed: false,
    why: "The user blocked the skill deploy, which came with this project.",
  });
});

test("a block counts wherever the project of the skill begins now, until it is taken back", async () => {
  let top = "/work";
  const { trust } = openTrust({ projectOf: () => top });
  const source = "/work/shop/.agents/skills";
  const skill = { ...judged, isOwn: false, source, directory: `${source}/deploy` };
  const session = { ...nobody, directory: "/work/shop" };
  await trust.authorize(requestOf({ skill }), { ...session, ask: personWith("block").ask }, signal);
  const standing = {
    skill,
    needs: noCapabilities,
    hasCode: false,
    digest: () => Promise.resolve(digest("a")),
  };
  for (top of ["/work", "/work/shop", "/work/shop/.agents"]) {
    const blocked = { allowed: false, why: expect.stringContaining("The user blocked the skill deploy") as string };
    expect(await trust.authorize(requestOf({ skill, needs: noCapabilities }), session, signal)).toMatchObject(blocked);
    expect(await trust.mayRead(skill, session, signal)).toMatchObject(blocked);
    expect(await trust.standings([standing, { ...standing, skill: { ...skill, name: "other" } }], session)).toEqual([
      "blocked",
      "ready",
    ]);
  }
  expect(await trust.takeBack({ blocksOf: skill }, session)).toBe(true);
  expect(await trust.standings([standing], session)).toEqual(["ready"]);
});

describe("a caller from elsewhere, with grants of its own", () => {
  const remote = (...grants: readonly string[]): TrustCaller => ({
    owner: "http:ci",
    transport: "http",
    grants: new ConfiguredGrants(grants),
  });
  const granted = `deploy@${digest("a").slice("sha256:".length)}`;

  test("may do what was granted to it, for exactly these bytes and permissions", async () => {
    const { trust } = openTrust();
    expect(await trust.authorize(requestOf(), remote(granted), signal)).toEqual({
      allowed: true,
      by: `granted ${granted}`,
    });
    const changed = requestOf({ skill: { ...judged, digest: digest("b") } });
    expect(await trust.authorize(changed, remote(granted), signal)).toMatchObject({ allowed: false });
    expect(await trust.authorize(requestOf(), remote(`${granted}:secrets`), signal)).toMatchObject({ allowed: false });
  });

  test("gets nothing of what this machine's user approved, in a session, for good or with --grant", async () => {
    const { trust } = openTrust({ grants: [granted] });
    expect(await trust.authorize(requestOf(), personWith("trust"), signal)).toMatchObject({ allowed: true });
    expect(await trust.authorize(requestOf(), { ...personWith(), owner: "other" }, signal)).toMatchObject({
      allowed: true,
    });
    expect(await trust.authorize(requestOf(), remote(), signal)).toEqual({
      allowed: false,
      why: expect.stringContaining("The skill deploy is not granted to this caller, and needs approval") as string,
      hint: `Whoever runs this server can add ${granted} to the caller's grants.`,
    });
  });

  test("may run what needs nothing, and nothing that this machine's user blocked or a policy denies", async () => {
    const { trust } = openTrust();
    const plain = requestOf({ needs: noCapabilities, wants: noCapabilities });
    expect(await trust.authorize(plain, remote(), signal)).toEqual({ allowed: true, by: "sandbox" });
    await trust.authorize(requestOf(), personWith("block"), signal);
    expect(await trust.authorize(plain, remote(), signal)).toMatchObject({ allowed: false });
    expect(await trust.authorize(requestOf(), remote(granted), signal)).toMatchObject({ allowed: false });
    const denying = openTrust({ policy: { denies: () => ({ why: "Denied.", hint: "None." }) } });
    expect(await denying.trust.authorize(requestOf(), remote(granted), signal)).toMatchObject({ why: "Denied." });
  });
});
