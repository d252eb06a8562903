import { expect, test } from "vitest";
import type { SandboxRun } from "../../../src/runtime/sandbox.ts";
import type { Root } from "../../../src/skills/skillset/roots.ts";
import type { Answer, Ask, Question } from "../../../src/runtime/question.ts";
import type { ToolCaller } from "../../../src/runtime/tools/tool.ts";
import { refusal } from "../tools/open-tools.ts";
import type { MemoryRunsOptions } from "./memory-runs.ts";
import { openMemoryRun } from "./open-memory-run.ts";
import { actionSkill, openRunner } from "./open-runner.ts";

const deploy = (host: string, secret: string, project = "read") =>
  `[permissions]\nnetwork = ["https://${host}"]\nsecrets = ["${secret}"]\nproject = "${project}"`;
const grants = ["deploy:network,secrets,project-read"];
const project: Root = { path: "/skills", origin: "project" };
const returned = { type: "returned", value: null } as const;

async function open(permissions: string, roots?: readonly Root[]) {
  const runs: SandboxRun[] = [];
  const runner = await openRunner(
    actionSkill("deploy", permissions),
    ({ run }) => {
      runs.push(run);
      return returned;
    },
    { grants, readSecret: () => Promise.resolve("value"), ...(roots !== undefined && { roots }) },
  );
  const run = async () => await runner.call("execute_skill", { name: "deploy" }, { project: "/home/me/project" });
  return { ...runner, runs, run };
}

/** A person who always gives the same answer. */
function person(answer: Answer): { readonly ask: Ask; readonly asked: Question[] } {
  const asked: Question[] = [];
  return {
    asked,
    ask(question) {
      asked.push(question);
      return Promise.resolve({ answer });
    },
  };
}

test("a grant by name does not apply to a skill of that name that came with the project", async () => {
  const { run, runs } = await open(deploy("evil.example", "KEY"), [project]);
  expect(await refusal(run())).toMatchObject({
    code: "PERMISSION_DENIED",
    message:
      "The skill deploy needs approval to read the project's files, read the value of KEY and connect to evil.example. There is nobody to ask here.",
  });
  expect(runs).toEqual([]);
});

test("a skill of the user's own that is also in the project keeps its grant", async () => {
  const own: Root = { path: "/skills", origin: "user" };
  const { run, runs } = await open(deploy("good.example", "KEY"), [project, own]);
  await run();
  expect(runs).toHaveLength(1);
});

test.each([
  ["requests more", "deploy", deploy("evil.example", "OTHER"), {}],
  ["requests less", "deploy", '[permissions]\nsecrets = ["KEY"]', {}],
  ["has other code", "deploy", deploy("good.example", "KEY"), { "code/main.py": "def main(args): return 1\n" }],
  ["has one file more", "deploy", deploy("good.example", "KEY"), { "extra.txt": "" }],
])("a grant by name is for the bytes that were first seen: a skill that %s needs a new one", async (...change) => {
  const [, name, permissions, changed] = change;
  const { run, runs, files, reload, call } = await open(deploy("good.example", "KEY"));
  await call("list_skills");
  for (const [path, text] of Object.entries(actionSkill(name, permissions, changed))) files.write(path, text);
  await reload();
  expect(await refusal(run())).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(runs).toEqual([]);
});

test("nobody is asked about a run that this machine cannot do, whatever they would answer", async () => {
  const skill = '[permissions]\nnetwork = ["https://api.example"]\nsecrets = ["KEY", "OTHER"]\nproject = "read"';
  const missing = {
    code: "SECRET_MISSING",
    message: "The skill deploy needs KEY and OTHER, which are not configured.",
  };
  const project = "/home/me/project";
  const cannot: readonly [MemoryRunsOptions, object][] = [
    [{ readSecret: () => Promise.resolve(undefined) }, missing],
    [{ refuseProject: () => "it is the home directory" }, { code: "PERMISSION_DENIED" }],
  ];
  for (const [parts, error] of cannot) {
    const { call } = await openRunner(actionSkill("deploy", skill), () => returned, {
      readSecret: () => Promise.resolve("value"),
      ...parts,
    });
    const { ask, asked } = person("once");
    expect(await refusal(call("execute_skill", { name: "deploy" }, { project, ask }))).toMatchObject(error);
    expect(asked).toEqual([]);
    // Where nobody can or may be asked, it is not said what the machine lacks.
    const needsApproval = { message: expect.stringContaining("needs approval") as string };
    expect(await refusal(call("execute_skill", { name: "deploy" }, { project }))).toMatchObject(needsApproval);
    const silent = await openRunner(actionSkill("deploy", skill), () => returned, {
      ...parts,
      policy: { prompts: false },
    });
    expect(await refusal(silent.call("execute_skill", { name: "deploy" }, { project, ask }))).toMatchObject(
      needsApproval,
    );
  }
});

test("what the sandbox of this machine does not support is said before anybody asks for an approval, with what would support it", async () => {
  const lacks = { "network access": "The tier does not support network access." };
  const remedy = "It works with bubblewrap. Fix: sudo apt-get install bubblewrap";
  const parts = { lacks, remedy, readSecret: () => Promise.resolve("value") };
  const { call } = await openRunner(actionSkill("deploy", deploy("api.example", "KEY")), () => returned, parts);
  const { ask, asked } = person("once");
  const unsupported = { code: "SANDBOX_UNAVAILABLE", message: lacks["network access"], hint: remedy };
  const project = "/home/me/project";
  expect(await refusal(call("execute_skill", { name: "deploy" }, { project, ask }))).toMatchObject(unsupported);
  expect(await refusal(call("execute_skill", { name: "deploy" }, { project }))).toMatchObject(unsupported);
  expect(asked).toEqual([]);
});

test("what a sandbox refuses for another reason has no remedy that does not help", async () => {
  const { call } = await openRunner(actionSkill("deploy", deploy("api.example", "KEY")), () => returned, {
    remedy: "It works with bubblewrap.",
    refuses: () => "The sandboxes are created inside the project.",
  });
  expect(await refusal(call("execute_skill", { name: "deploy" }, { project: "/p" }))).toMatchObject({
    message: "The sandboxes are created inside the project.",
    hint: "acp-skills doctor reports what this machine supports.",
  });
});

test("nobody is asked about a call that the sandbox does not support: it fails in the code that makes it", async () => {
  const { report, calls } = await openCalls({ lacks: { "network access": "There is no network access." } });
  const { ask, asked } = person("trust");
  await report({ ask });
  expect(asked).toEqual([]);
  expect(calls).toEqual([expect.stringContaining("There is no network access.")]);
});

test("a person is asked before the run, with everything that the skill wants", async () => {
  const { call } = await open(deploy("api.example", "KEY", "write"), [project]);
  const { ask, asked } = person("once");
  await call("execute_skill", { name: "deploy" }, { project: "/home/me/project", ask });
  expect(asked).toMatchObject([
    {
      title: expect.stringMatching(
        /^1 secret, 1 host, file changes: run deploy 1\.2\.0 \([0-9a-f]{12}, from this project\); KEY; api\.example$/,
      ) as string,
      options: [
        { answer: "once", label: "Run once", kind: "allow_once" },
        { answer: "trust", label: "Trust this exact version in this project", kind: "allow_always" },
        { answer: "not-now", label: "Not now", kind: "reject_once" },
        { answer: "block", label: "Block this skill", kind: "reject_always" },
      ],
    },
  ]);
});

/** `report` calls `deploy`, which may connect to a host. */
async function openCalls(parts: MemoryRunsOptions = {}) {
  const calls: string[] = [];
  const runner = await openRunner(
    {
      ...actionSkill("deploy", '[permissions]\nnetwork = ["https://api.example"]'),
      ...actionSkill("report", '[dependencies]\nskills = ["deploy@^1"]'),
    },
    async ({ run, callSkill }) => {
      if (run.brokered.length === 0) return { type: "returned", value: "deployed" };
      const outcome = await callSkill("deploy", {}).catch((error: unknown) => String(error));
      calls.push(typeof outcome === "string" ? outcome : JSON.stringify(outcome));
      return returned;
    },
    parts,
  );
  const report = async (caller: Partial<ToolCaller>) => await runner.call("execute_skill", { name: "report" }, caller);
  return { ...runner, calls, report };
}

test("a skill that calls one with capabilities is a question of its own that names the caller, and is asked before the run", async () => {
  const { report, call, calls } = await openCalls();
  const { ask, asked } = person("trust");
  await report({ ask });
  expect(asked.map(({ title }) => title)).toEqual([
    expect.stringMatching(
      /^Host api\.example: run deploy 1\.2\.0 \([0-9a-f]{12}\); called by report \([0-9a-f]{12}\)$/,
    ),
  ]);
  expect(calls).toEqual(["deployed"]);
  await report({ ask });
  expect(asked).toHaveLength(1);
  // The approval of a call by that skill is none for other callers.
  await call("execute_skill", { name: "deploy" }, { ask });
  expect(asked).toHaveLength(2);
});

test("the approval of a skill is none for other skills that call it", async () => {
  const { report, call } = await openCalls();
  const { ask, asked } = person("trust");
  await call("execute_skill", { name: "deploy" }, { ask });
  await report({ ask });
  expect(asked).toHaveLength(2);
});

test("a call that was refused is an error in the code that makes it, and is not asked again", async () => {
  const { report, calls } = await openCalls();
  const { ask, asked } = person("not-now");
  await report({ ask });
  expect(asked).toHaveLength(1);
  expect(calls).toEqual([expect.stringContaining("The user answered: not now.")]);
});

test("a call that was allowed once is allowed for this run, however often it is made, and asked about in the next", async () => {
  const { report, calls } = await openCalls();
  const { ask, asked } = person("once");
  await report({ ask });
  await report({ ask });
  expect(calls).toEqual(["deployed", "deployed"]);
  expect(asked).toHaveLength(2);
});

test("code of a model that calls a mounted skill needs the approval of that skill", async () => {
  const { call } = await openCalls();
  const { ask, asked } = person("trust");
  const code = { language: "python", code: "", mount_skills: ["deploy"] };
  await call("run_code", code, { ask });
  await call("execute_skill", { name: "deploy" }, { ask });
  expect(asked.map(({ title }) => title)).toEqual([expect.not.stringContaining("called by")]);
});

test("a skill that is blocked cannot be mounted by code either", async () => {
  const { call } = await openRunner(actionSkill("deploy"), () => returned, { policy: { runs: "ask" } });
  await refusal(call("execute_skill", { name: "deploy" }, { ask: person("block").ask }));
  const code = { language: "python", code: "", mount_skills: ["deploy"] };
  expect(await refusal(call("run_code", code, { ask: person("trust").ask }))).toMatchObject({
    code: "PERMISSION_DENIED",
    message: "The user blocked the skill deploy.",
  });
});

test("where a policy demands an approval of every run, code that mounts a skill needs that of the skill", async () => {
  const { call } = await openRunner(actionSkill("deploy"), () => returned, { policy: { runs: "ask" } });
  const { ask, asked } = person("trust");
  const code = { language: "python", code: "", mount_skills: ["deploy"] };
  expect(await refusal(call("run_code", code))).toMatchObject({ code: "PERMISSION_DENIED" });
  await call("run_code", code, { ask });
  await call("execute_skill", { name: "deploy" }, { ask });
  expect(asked).toHaveLength(1);
});

test("a policy without scripts refuses all code, of skills and of models", async () => {
  const code = { why: "The policy denies running code.", hint: "Ask." };
  const { call } = await openRunner(actionSkill("deploy"), () => returned, { policy: { code } });
  const refused = { code: "PERMISSION_DENIED", message: code.why };
  expect(await refusal(call("execute_skill", { name: "deploy" }))).toMatchObject(refused);
  expect(await refusal(call("run_code", { language: "python", code: "def main(): pass" }))).toMatchObject(refused);
});

test.each([
  ["none", false],
  ["once", false],
  ["session", true],
] as const)(
  "where a policy allows approvals %s, a grant of the configuration counts: %s",
  async (approvals, counts) => {
    const runs: SandboxRun[] = [];
    const { call } = await openRunner(
      actionSkill("deploy", deploy("good.example", "KEY")),
      ({ run }) => {
        runs.push(run);
        return returned;
      },
      { grants, policy: { approvals }, readSecret: () => Promise.resolve("value") },
    );
    const outcome = await call("execute_skill", { name: "deploy" }, { project: "/home/me/project" }).catch(String);
    expect(runs, JSON.stringify(outcome)).toHaveLength(counts ? 1 : 0);
  },
);

test("a spec that asks for more than the skill of its digest declares is not covered by an approval of that skill", async () => {
  const { runs, caller } = await openMemoryRun(actionSkill("deploy"), () => returned, {});
  const { signal } = new AbortController();
  const spec = await runs.plan({ type: "skill", name: "deploy" }, caller, signal);
  const forged = { ...spec, needs: { ...spec.needs, network: ["https://evil.example"] } };
  expect(await refusal(runs.run(forged, caller, signal))).toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining("connect to evil.example") as string,
  });
});

test("code of a project that is mounted beside a skill with capabilities needs the approval of its own calls", async () => {
  const { call, context } = await openRunner(
    {
      ...actionSkill("deploy", '[permissions]\nnetwork = ["https://api.example"]'),
      ...Object.fromEntries(
        Object.entries(actionSkill("helper")).map(([path, text]) => [path.replace("/skills", "/project"), text]),
      ),
    },
    async ({ run, callSkill }) => {
      if (run.brokered.length === 0) return { type: "returned", value: "deployed" };
      return { type: "returned", value: await callSkill("deploy", {}).catch((error: unknown) => String(error)) };
    },
    {
      roots: [
        { path: "/skills", origin: "user" },
        { path: "/project", origin: "project" },
      ],
    },
  );
  const { ask, asked } = person("trust");
  await call("execute_skill", { name: "deploy" }, { ask });
  const code = { language: "python", code: "", mount_skills: ["deploy", "helper"] };
  expect(await call("run_code", code, { ...context, transport: "cli" })).toMatchObject({
    output: expect.stringContaining("The skill deploy, called by helper, needs approval") as string,
  });
  expect(await call("run_code", code, { transport: "cli", ask })).toMatchObject({ output: "deployed" });
  expect(asked.map(({ title }) => title)).toEqual([
    expect.stringMatching(/^Host api\.example: run /),
    expect.stringMatching(/; called by helper \([0-9a-f]{12}\)$/),
  ]);
});
