import { expect, test } from "vitest";
import type { BlobStore } from "../../../src/runtime/blobs.ts";
import { SkillsError } from "../../../src/base/errors.ts";
import type { LedgerEntry } from "../../../src/runtime/ledger.ts";
import type { Skill } from "../../../src/skills/skill.ts";
import { agentSkill, openTools, protocolSkill, refusal } from "./open-tools.ts";
import { openTrust } from "../trust/open-trust.ts";
import { toolNames } from "../../../src/wire/tools.ts";

const snapshot = { skills: [], problems: [] };
const context = { owner: "me", transport: "in-process" as const, skills: { snapshot } };

/** A store whose methods all throw the same error. */
function failingBlobs(error = new Error("not to be called")): BlobStore {
  const fail = () => Promise.reject(error);
  const read = (): AsyncIterable<Uint8Array> => ({ [Symbol.asyncIterator]: () => ({ next: fail }) });
  return { put: fail, stat: fail, hold: fail, remove: fail, read };
}

const both = { ...protocolSkill("sales.leads"), ...agentSkill("sales-notes"), ...agentSkill("pdf") };
const hiddenName = "sales.leads";

test.each([
  ["list_skills", {}],
  ["list_skills", { detail: "summary", limit: 1 }],
  ["list_skills", { namespace: "sales" }],
  ["list_skills", { namespace: "sales.leads" }],
  ["describe_skill", { name: "sales.leads" }],
  ["describe_skill", { name: "sales-leads" }],
  ["describe_skill", { name: "sales.leads", version: "1.0.0" }],
  ["describe_skill", { name: "sales.leads", version: "9.0.0" }],
  ["describe_skill", { name: "sales.lead" }],
  ["read_skill_file", { name: "sales.leads", path: "SKILL.md" }],
  ["read_skill_file", { name: "sales.leads", path: "missing" }],
  ["read_skill_file", { name: "sales.leads", path: "../x" }],
  ["load_skills_protocol_guide", {}],
])("a hidden skill behaves as absent: %s %j", async (tool, args) => {
  const hidden = await openTools(both);
  const absent = await openTools(
    Object.fromEntries(Object.entries(both).filter(([file]) => !file.includes(hiddenName))),
  );
  const visible = ({ name }: Skill) => name !== hiddenName;
  const outcome = (call: Promise<unknown>) =>
    call.then(
      (answer) => ({ answer }),
      (error: unknown) => {
        const { code, message, facts } = error as SkillsError;
        return { code, message, facts };
      },
    );
  expect(await outcome(hidden.call(tool, args, { visible }))).toEqual(await outcome(absent.call(tool, args)));
});

test.each([
  ["describe_skill", { name: "outer" }],
  ["read_skill_file", { name: "outer", path: "inner/SKILL.md" }],
  ["read_skill_file", { name: "outer", path: "inner/secret.md" }],
  ["read_skill_file", { name: "outer", path: "link.md" }],
  ["read_skill_file", { name: "outer", path: "beside.md" }],
  ["read_skill_file", { name: "outer", path: "nothing.md" }],
  ["read_skill_file", { name: "inmost", path: "SKILL.md" }],
])("a hidden skill inside another skill's directory is absent from that skill too: %s %j", async (tool, args) => {
  const beside = agentSkill("beside");
  const inner = {
    "/skills/outer/inner/SKILL.md": "---\nname: inner\ndescription: Does inner.\n---\n",
    "/skills/outer/inner/secret.md": "secret",
  };
  const shown = {
    ...agentSkill("outer"),
    "/skills/outer/guide.md": "Guide.\n",
    "/skills/beside/inmost/SKILL.md": "---\nname: inmost\ndescription: Does inmost.\n---\n",
  };
  const hidden = await openTools({ ...shown, ...inner, ...beside });
  const absent = await openTools(shown);
  for (const { files } of [hidden, absent]) {
    files.link("/skills/outer/link.md", "inner/secret.md");
    files.link("/skills/outer/beside.md", "/skills/beside/SKILL.md");
  }
  const visible = ({ name }: Skill) => name !== "inner" && name !== "beside";
  const outcome = (call: Promise<unknown>) => call.catch((error: unknown) => (error as SkillsError).facts);
  expect(await outcome(hidden.call(tool, args, { visible }))).toEqual(await outcome(absent.call(tool, args)));
  expect(await outcome(hidden.call(tool, { ...args, name: "beside" }, { visible }))).toEqual(
    await outcome(absent.call(tool, { ...args, name: "beside" })),
  );
});

test("a hidden version behaves as absent", async () => {
  const of = (version: string) => ({
    [`/skills/pdf/${version}/SKILL.md`]: `---\nname: pdf\ndescription: ${version}\n---\n`,
  });
  const hidden = await openTools({ ...of("1.0.0"), ...of("2.0.0-rc.1"), ...of("2.0.0") });
  const absent = await openTools({ ...of("1.0.0"), ...of("2.0.0-rc.1") });
  const visible = ({ version }: Skill) => version !== "2.0.0";
  for (const tool of ["list_skills", "describe_skill"]) {
    const args = tool === "list_skills" ? {} : { name: "pdf" };
    expect(await hidden.call(tool, args, { visible })).toEqual(await absent.call(tool, args));
  }
  const args = { name: "pdf", version: "2.0.0" };
  expect(await refusal(hidden.call("describe_skill", args, { visible }))).toEqual(
    await refusal(absent.call("describe_skill", args)),
  );
});

test("a tool that the caller lacks behaves as unknown", async () => {
  const { call } = await openTools({});
  const tools = ["list_skills"] as const;
  expect(await refusal(call("create_blob", {}, { tools }))).toEqual({
    code: "METHOD_NOT_FOUND",
    message: 'Unknown tool "create_blob".',
    available: ["list_skills"],
  });
  expect(await refusal(call("list_skill"))).toMatchObject({ code: "METHOD_NOT_FOUND" });
  expect(await refusal(call("constructor"))).toMatchObject({ code: "METHOD_NOT_FOUND" });
});

test("an unknown parameter beside a missing one is taken for the missing one, unless it is a misspelt other one", async () => {
  const { call } = await openTools({});
  const { message, available } = await refusal(call("describe_skill", { skill: "alpha" }));
  expect(message).toBe(
    "Invalid input to describe_skill. Unknown parameter skill. name is required: a string. Did you mean name?",
  );
  expect(available).toEqual(expect.arrayContaining(["name", "version"]));
  expect(await refusal(call("execute_skill", { skill: "alpha" }))).toMatchObject({ hint: "Did you mean name?" });
  expect(await refusal(call("execute_skill", { scrip: "a.py" }))).toMatchObject({ hint: "Did you mean script?" });
});

test("an unknown parameter is refused with the nearest valid name", async () => {
  const { call } = await openTools({});
  const { code, message, hint, available, violations } = await refusal(
    call("list_skills", { limits: 5, namespace: "x" }),
  );
  expect({ code, hint, violations }).toEqual({
    code: "VALIDATION_ERROR",
    hint: "Did you mean limit?",
    violations: [{ field: "/limits", expected: "no such parameter", actual: 5 }],
  });
  expect(available).toEqual(["limit", "detail", "cursor", "query", "namespace"]);
  expect(message).toBe("Invalid input to list_skills. Unknown parameter limits. Did you mean limit?");
});

test.each([5n, Symbol("x"), () => 1])(
  "a value that JSON cannot represent is a validation error that names its type: %s",
  async (limit) => {
    const { call } = await openTools({});
    expect(await refusal(call("list_skills", { limit }))).toMatchObject({
      code: "VALIDATION_ERROR",
      violations: [{ field: "/limit", expected: "a whole number, 1 or more", actual: `a ${typeof limit}` }],
    });
  },
);

test("every violation is reported with a pointer", async () => {
  const { call } = await openTools({});
  const { violations } = await refusal(call("read_skill_file", { version: 1, "a/b~c": {} }));
  expect(violations).toEqual([
    { field: "/a~1b~0c", expected: "no such parameter", actual: "an object" },
    { field: "/name", expected: "a string", actual: null },
    { field: "/version", expected: "a string", actual: 1 },
    { field: "/path", expected: "a string", actual: null },
  ]);
});

test.each([null, [], "x", 5, true])("%j is refused: parameters are an object", async (args) => {
  const { call } = await openTools({});
  for (const tool of ["list_skills", "load_skills_protocol_guide"]) {
    expect(await refusal(call(tool, args))).toMatchObject({ code: "VALIDATION_ERROR", violations: [{ field: "" }] });
  }
});

test("errors about long input are short", async () => {
  const { call } = await openTools(agentSkill("pdf"));
  const long = "x".repeat(100_000);
  for (const [tool, args] of [
    ["describe_skill", { name: long }],
    ["describe_skill", { name: "pdf", version: long }],
    ["list_skills", { detail: long }],
    ["read_skill_file", { name: "pdf", path: long }],
    ["create_blob", { content: "", kind: long }],
    ["read_blob", { blob_id: long }],
    ["list_skills", { cursor: long }],
    [
      "list_skills",
      Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`${index}${long.slice(0, 50)}`, long])),
    ],
    ["list_skills", { [long]: 1 }],
    [long, {}],
  ] as const) {
    expect(JSON.stringify(await refusal(call(tool, args))).length).toBeLessThan(10_000);
  }
});

test.each([
  ["an unknown failure", new Error("ENOENT /home/someone/blobs")],
  ["an INTERNAL error from another module", new SkillsError("INTERNAL", "/home/someone/blobs is damaged")],
])("%s is returned as an internal error with an id, and logged with its details", async (_name, error) => {
  const { toolbox, logged } = await openTools({}, { store: failingBlobs(error), newErrorId: () => "err_7" });
  const refused = await refusal(toolbox.call("create_blob", { content: "", kind: "a/b" }, context));
  expect(refused).toEqual({
    code: "INTERNAL",
    message: "Internal error err_7. Details are in the log.",
    errorId: "err_7",
  });
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("/home/someone/blobs");
});

test("a result that violates the output schema is an internal error", async () => {
  const blobs: BlobStore = { ...failingBlobs(), put: () => Promise.resolve({ id: 5 } as never) };
  const { toolbox, logged } = await openTools({}, { store: blobs });
  expect(await refusal(toolbox.call("create_blob", { content: "", kind: "a/b" }, context))).toMatchObject({
    code: "INTERNAL",
  });
  expect(logged.join()).toContain("create_blob returned a result that violates its output schema");
});

test("an unreadable directory is SKILL_NOT_READY, and its path appears only in the log", async () => {
  const { call, files, logged } = await openTools(agentSkill("pdf"));
  files.deny("/skills/pdf");
  const refused = await refusal(call("describe_skill", { name: "pdf" }));
  expect(refused).toEqual({ code: "SKILL_NOT_READY", message: "The skill's files cannot be read." });
  expect(logged).toEqual([expect.stringContaining("/skills/pdf")]);
});

test("a call whose signal is already aborted rejects with the reason and is recorded as cancelled", async () => {
  const uses: LedgerEntry[] = [];
  const {
    toolbox,
    context: mine,
    logged,
  } = await openTools({}, { onUse: (use) => void uses.push(use), now: () => 12 });
  const call = toolbox.call("list_skills", {}, mine, AbortSignal.abort("changed my mind"));
  await expect(call).rejects.toBe("changed my mind");
  const use = { tool: "list_skills", outcome: "failed", code: "CANCELLED", sessionId: "s1", door: "in-process" };
  expect([uses, logged]).toEqual([[{ at: 12, ...use }], []]);
});

test("a call of a subagent is recorded with it and its session, even if it becomes known during the call", async () => {
  const uses: LedgerEntry[] = [];
  const { toolbox, context: mine } = await openTools({}, { onUse: (use) => void uses.push(use), now: () => 12 });
  const known: { subagent?: string } = {};
  const caller = Object.defineProperty({ ...mine }, "subagent", { enumerable: true, get: () => known.subagent });
  const called = toolbox.call("list_skills", {}, caller);
  known.subagent = "child";
  await called;
  await toolbox.call("list_skills", {}, mine);
  const use = { at: 12, tool: "list_skills", outcome: "completed", sessionId: "s1", door: "in-process" };
  expect(uses).toEqual([{ ...use, subagent: "child" }, use]);
});

test("a call waits until the skills have been read", async () => {
  const { toolbox } = await openTools({}, { store: failingBlobs() });
  const { promise, resolve } = ((): { promise: Promise<void>; resolve: () => void } => {
    let open: () => void = () => undefined;
    return { promise: new Promise((done) => (open = done)), resolve: () => open() };
  })();
  let now = snapshot as { skills: readonly never[]; problems: readonly never[] };
  const skills = {
    ready: promise,
    get snapshot() {
      return now;
    },
  };
  const call = toolbox.call("list_skills", {}, { ...context, skills });
  const { context: full } = await openTools(agentSkill("pdf"));
  now = full.skills.snapshot as typeof now;
  resolve();
  expect(await call).toMatchObject({ skills: [{ name: "pdf" }, { name: "skills.protocol.guide" }] });
});

test("a call sees one state of the skills, and one that uses none looks at neither skills nor policy", async () => {
  const { trust } = openTrust();
  const looks: string[] = [];
  const policyFor: typeof trust.policyFor = (directory) => {
    looks.push("policy");
    return trust.policyFor(directory);
  };
  const mayRead: typeof trust.mayRead = (...given) => trust.mayRead(...given);
  const { call, context: full } = await openTools(agentSkill("pdf"), { trust: { policyFor, mayRead } });
  const skills = {
    get snapshot() {
      looks.push("skills");
      return full.skills.snapshot;
    },
  };
  const { blob_id: id } = (await call("create_blob", { content: "a", kind: "text/plain" }, { skills })) as {
    blob_id: string;
  };
  await call("read_blob", { blob_id: id, mode: "full" }, { skills });
  expect(looks).toEqual([]);
  const named = { name: "pdf", detail: "full" };
  expect(await call("describe_skill", named, { skills, transport: "mcp" })).toMatchObject({
    skill: { versions: ["0.0.0"] },
  });
  expect(looks.toSorted()).toEqual(["policy", "skills"]);
});

test("every call is recorded once with its outcome, and the skill's canonical name and version", async () => {
  const uses: LedgerEntry[] = [];
  const { call } = await openTools(protocolSkill("sales.leads"), {
    onUse: (use) => void uses.push(use),
    now: () => 12,
  });
  await call("describe_skill", { name: "sales-leads" });
  await call("list_skills", {}, { transport: "mcp" });
  await call("load_skills_protocol_guide");
  await refusal(call("describe_skill", { name: "nothing" }));
  await refusal(call("read_skill_file", { name: "sales-leads", path: "missing" }));
  await refusal(call("list_skills", { limit: 0 }));
  await refusal(call("no_such_tool"));
  const leads = { skill: "sales.leads", version: "1.0.0" };
  const facts = { at: 12, sessionId: "s1", door: "in-process" };
  const completed = { ...facts, outcome: "completed" };
  const digest = expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string;
  const refused = { ...facts, outcome: "refused" };
  expect(uses).toEqual([
    { ...completed, tool: "describe_skill", ...leads, digest },
    { ...completed, tool: "list_skills", door: "mcp" },
    { ...completed, tool: "load_skills_protocol_guide", skill: "skills.protocol.guide", version: "0.1.0" },
    { ...refused, tool: "describe_skill", asked: "nothing", code: "SKILL_NOT_FOUND" },
    { ...refused, tool: "read_skill_file", ...leads, code: "FILE_NOT_FOUND" },
    { ...refused, tool: "list_skills", code: "VALIDATION_ERROR" },
    { ...refused, tool: "no_such_tool", code: "METHOD_NOT_FOUND" },
  ]);
});

test("a ledger that throws does not fail the call", async () => {
  const { call, logged } = await openTools(
    {},
    {
      onUse: () => {
        throw new Error("disk full");
      },
    },
  );
  expect(await call("list_skills")).toMatchObject({ next_cursor: null });
  expect(logged.join()).toContain("disk full");
});

test("every result is plain JSON", async () => {
  const { call } = await openTools({ ...protocolSkill("sales.leads"), ...agentSkill("pdf", "n: .nan\n") });
  const { blob_id } = (await call("create_blob", { content: "x", kind: "a/b" })) as { blob_id: string };
  const answers = [
    await call("list_skills", { detail: "summary" }),
    await call("describe_skill", { name: "sales.leads", detail: "full" }),
    await call("describe_skill", { name: "pdf", detail: "full" }),
    await call("read_skill_file", { name: "pdf", path: "SKILL.md" }),
    await call("read_blob", { blob_id }),
    await call("load_skills_protocol_guide"),
  ];
  for (const answer of answers) expect(JSON.parse(JSON.stringify(answer))).toStrictEqual(answer);
});

test("64 concurrent calls all succeed", async () => {
  const { call } = await openTools({ ...protocolSkill("sales.leads"), ...agentSkill("pdf") });
  const calls = Array.from({ length: 64 * 8 }, (_, index) =>
    call(
      ...([
        ["list_skills", {}],
        ["describe_skill", { name: "pdf" }],
        ["read_skill_file", { name: "sales.leads", path: "SKILL.md" }],
        ["create_blob", { content: String(index), kind: "a/b" }],
      ][index % 4] as [string, object]),
    ),
  );
  expect(await Promise.all(calls)).toHaveLength(512);
});

test("the eight tools have the names and order of the contract", () => {
  expect(toolNames.join(" ")).toBe(
    "list_skills describe_skill read_skill_file execute_skill run_code create_blob read_blob load_skills_protocol_guide",
  );
});
