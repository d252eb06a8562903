import { expect, test } from "vitest";
import { ActiveSkills } from "../../../src/acp/service/active-skills.ts";
import type { LedgerEntry } from "../../../src/ledger/ledger.ts";
import { openSkillHasher } from "../../../src/skills/hash/hash-skill.ts";
import type { SkillHasher } from "../../../src/skills/hash/hash-skill.ts";
import type { OfferedSkill } from "../../../src/skills/skill.ts";
import { memorySkillBytes, memorySkillFiles } from "../../skills/files/memory-skill-files.ts";
import { grantOf } from "../../trust/grants/grant-of.ts";
import { openTrust } from "../../trust/open-trust.ts";
import { memorySkillset, offer } from "../memory-skillset.ts";

const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const [one, two] = [digest("a"), digest("b")];
const status = { tool: "Bash", command: "git status" } as const;

function own(name: string, allowedTools: readonly string[]): OfferedSkill {
  return { ...offer(name, { allowedTools }), isOwn: true };
}

/** A session with the skills `deploy` and `notes`; their files have the digest that `now` says. */
function prepare(options: Parameters<typeof openTrust>[0] = {}) {
  const skillset = memorySkillset([own("deploy", ["Bash(git:*)"]), own("notes", ["Edit(a/**)", "Bash(git status)"])]);
  const { trust, store } = openTrust(options);
  const now: Record<string, string | undefined> = { "/skills/deploy": one, "/skills/notes": one };
  const entries: LedgerEntry[] = [];
  const logged: string[] = [];
  const files = memorySkillFiles({
    "/skills/deploy/SKILL.md": '---\nname: deploy\ndescription: D.\nallowed-tools: ["Bash(git:*)"]\n---\n',
    "/skills/notes/SKILL.md":
      '---\nname: notes\ndescription: N.\nallowed-tools: ["Edit(a/**)", "Bash(git status)"]\n---\n',
  });
  const source = { files, bytes: memorySkillBytes(files) };
  const hasher = openSkillHasher();
  const hash: SkillHasher["hash"] = async (...given) => {
    const { files: hashed } = await hasher.hash(...given);
    return { files: hashed, digest: now[given[1]] };
  };
  const active = new ActiveSkills({
    app: {
      trust: () => Promise.resolve(trust),
      hasher: { hash },
      source,
      ledger: { record: (entry: LedgerEntry) => entries.push(entry) } as never,
      log: (_level, text) => logged.push(text),
    },
    skills: skillset.openSession({ cwd: "/project", additionalDirectories: [] }),
    directories: { cwd: "/project", additionalDirectories: [] },
    now: () => 1,
  });
  active.begin({ sessionId: "s", agent: "claude" });
  const invoke = (name: string): void => active.called("read_skill_file", { name, path: "SKILL.md" });
  const approve = async (skill: string, tools: readonly string[], of = one): Promise<void> => {
    const capabilities = { network: [], secrets: [], project: "none" as const, tools: [...tools] };
    const grant = grantOf(1, { skill, digest: of, capabilities });
    await store.change("everywhere", (before) => ({ ...before, grants: [grant] }));
  };
  return { active, now, skillset, store, entries, logged, invoke, approve };
}

const deploy = ["Bash(git:*)"];

test("an approved skill's tool is allowed while the skill is active", async () => {
  const { active, invoke, approve, entries } = prepare();
  await approve("deploy", deploy);
  expect(active.decide(status)).toBeUndefined();
  invoke("deploy");
  const decision = await active.decide(status);
  expect(decision).toMatchObject({ kind: "allowed", pattern: "Bash(git:*)", skill: { name: "deploy", digest: one } });
  active.allowed(decision?.ticket ?? 0);
  await expect
    .poll(() => entries)
    .toMatchObject([{ event: "permission", tool: "Bash", digest: one, outcome: "allowed" }]);
  expect(await active.decide({ tool: "Bash", command: "git status; ls" })).toBeUndefined();
  active.turnBegan();
  expect(active.decide(status)).toBeUndefined();
});

test("other bytes than the approved ones are asked about", async () => {
  const { active, invoke, approve, now } = prepare();
  await approve("deploy", deploy);
  invoke("deploy");
  await active.decide(status);
  now["/skills/deploy"] = two;
  expect(await active.decide(status)).toMatchObject({ kind: "ask", question: { skill: { digest: two } } });
});

test("what the model read was not approved, even if the approved bytes are back", async () => {
  const { active, invoke, approve, now } = prepare();
  await approve("deploy", deploy);
  now["/skills/deploy"] = two;
  invoke("deploy");
  await active.decide(status);
  now["/skills/deploy"] = one;
  expect(await active.decide(status)).toBeUndefined();
  // Reading the approved bytes again does not undo what was read before.
  invoke("deploy");
  expect(await active.decide(status)).toBeUndefined();
  active.turnBegan();
  invoke("deploy");
  expect(await active.decide(status)).toMatchObject({ kind: "allowed" });
});

test("a revoked grant and a removed skill allow nothing", async () => {
  const { active, invoke, approve, store, skillset } = prepare();
  await approve("deploy", deploy);
  invoke("deploy");
  await store.change("everywhere", (before) => ({ ...before, grants: [] }));
  expect(await active.decide(status)).toMatchObject({ kind: "ask" });
  skillset.set([]);
  expect(await active.decide(status)).toBeUndefined();
});

test("of several active skills, an approved one decides", async () => {
  const { active, invoke, approve } = prepare();
  await approve("notes", ["Edit(a/**)", "Bash(git status)"]);
  invoke("deploy");
  invoke("notes");
  expect(await active.decide(status)).toMatchObject({ kind: "allowed", skill: { name: "notes" } });
  expect(await active.decide({ tool: "Bash", command: "git log" })).toMatchObject({
    kind: "ask",
    question: { skill: { name: "deploy" } },
  });
});

test.each<[string, Parameters<typeof openTrust>[0]]>([
  ["that allows no answers", { policy: { answers: false } }],
  ["that lets nobody approve", { policy: { approvals: "none" } }],
  ["that denies the tool", { policy: { denies: () => ({ why: "No.", hint: "None." }) } }],
])("a policy %s leaves the request to the editor", async (_what, options) => {
  const { active, invoke, approve } = prepare(options);
  await approve("deploy", deploy);
  invoke("deploy");
  expect(await active.decide(status)).toBeUndefined();
});

test("a policy without questions still lets approved skills use their tools", async () => {
  const { active, invoke, approve } = prepare({ policy: { prompts: false } });
  invoke("deploy");
  expect(await active.decide(status)).toBeUndefined();
  await approve("deploy", deploy);
  expect(await active.decide(status)).toMatchObject({ kind: "allowed" });
});

test("a use that a title cannot show in full is asked by the agent's own request", async () => {
  const { active, invoke, approve } = prepare();
  invoke("deploy");
  const long = { tool: "Bash", command: `git commit -m ${"a".repeat(200)}` } as const;
  expect(await active.decide(long)).toBeUndefined();
  await approve("deploy", deploy);
  expect(await active.decide(long)).toMatchObject({ kind: "allowed" });
});

test("a command cannot pass for what the skill wants", async () => {
  const { active, invoke } = prepare();
  invoke("deploy");
  const command = 'git log ") for notes 1.0.0 (aaaaaaaaaaaa)"';
  const asked = await active.decide({ tool: "Bash", command });
  expect(asked?.kind === "ask" && asked.question.title).toBe(
    `Agent tools (run harmless "git" commands without asking, the rest is asked): for deploy 1.0.0 (aaaaaaaaaaaa); now: Bash(${command})`,
  );
});

test("a question is answered once, and not by a skill that changed meanwhile", async () => {
  const { active, invoke, now, logged, entries } = prepare();
  invoke("deploy");
  const asked = await active.decide(status);
  now["/skills/deploy"] = two;
  expect(await active.answered(asked?.ticket ?? 0, { answer: "trust" })).toBe(false);
  expect(logged).toEqual([expect.stringContaining("deploy")]);
  now["/skills/deploy"] = one;
  expect(await active.answered(asked?.ticket ?? 0, { answer: "trust" })).toBe(false);
  expect(await active.answered(7, { answer: "trust" })).toBe(false);
  const again = await active.decide(status);
  expect(again).toMatchObject({ kind: "ask" });
  expect(await active.answered(again?.ticket ?? 0, { answer: "trust" })).toBe(true);
  expect(await active.decide(status)).toMatchObject({ kind: "allowed" });
  expect(entries.map(({ event, outcome, answer }) => [event, outcome, answer])).toEqual([
    ["ask", "asked", undefined],
    ["answer", "denied", "trust"],
    ["ask", "asked", undefined],
    ["answer", "allowed", "trust"],
  ]);
});

test("refused skills leave requests to the editor until the next prompt", async () => {
  const { active, invoke } = prepare();
  invoke("deploy");
  const asked = await active.decide(status);
  expect(await active.answered(asked?.ticket ?? 0, { answer: "not-now" })).toBe(false);
  expect(await active.decide(status)).toBeUndefined();
});

test.each([
  ["describe_skill", { name: "deploy", detail: "summary" }],
  ["describe_skill", { name: "deploy" }],
  ["list_skills", { name: "deploy" }],
  ["read_skill_file", { name: "unknown" }],
  ["read_skill_file", { name: 7 }],
  ["read_skill_file", { name: "deploy", version: "9.9.9" }],
  ["execute_skill", undefined],
])("%s with %j makes no skill active", (tool, input) => {
  const { active } = prepare();
  active.called(tool, input);
  expect(active.decide(status)).toBeUndefined();
});
