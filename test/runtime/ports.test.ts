import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Skills, openSkills } from "../../src/acp/in-process.ts";
import { isSkillsError } from "../../src/base/errors.ts";

let directory = "";
beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-ports-")));
  const action = path.join(directory, "skills", "acme.add");
  mkdirSync(path.join(action, "code"), { recursive: true });
  writeFileSync(path.join(action, "SKILL.md"), "---\nname: acme.add\ndescription: Adds.\n---\n");
  writeFileSync(path.join(action, "code", "main.py"), "def main(args): return 1\n");
  writeFileSync(
    path.join(action, "skill.toml"),
    'name = "acme.add"\nversion = "1.0.0"\ndescription = "Adds."\nkind = "action"\n\n[runtime]\nlanguage = "python"\nentrypoint = "code/main.py"\n',
  );
});
const opened: Skills[] = [];
afterEach(async () => {
  for (const skills of opened.splice(0)) await skills.close();
  rmSync(directory, { recursive: true });
});

/** A module of a port. */
function moduleOf(name: string, text: string): string {
  const file = path.join(directory, `${name}.mjs`);
  writeFileSync(file, text);
  return file;
}

async function open(
  ports: Readonly<Record<string, string | URL>>,
  more: object = {},
): Promise<{ readonly skills: Skills; readonly logged: string[] }> {
  const logged: string[] = [];
  const skills = await openSkills({
    directories: [path.join(directory, "skills")],
    defaultRoots: false,
    dataDirectory: path.join(directory, "data"),
    log: (level, message) => void logged.push(`${level} ${message}`),
    ports,
    ...more,
  });
  opened.push(skills);
  return { skills, logged };
}

const sandbox = (tier: string): string => `
  export default ({ dataDirectory, log }) => ({
    tier: ${JSON.stringify(tier)},
    lacks: {},
    refuses: ({ network }) => (network.length > 0 ? "There is no network here." : undefined),
    async run({ program, skills }, host) {
      log("info", "data in " + dataDirectory);
      host.print("stdout", Buffer.from("printed"));
      return { type: "returned", value: { skill: program.skill, files: skills[0].files.map(({ path }) => path).sort() } };
    },
    close: async () => undefined,
  });`;

test("runs are carried out by the given sandbox, under its name", async () => {
  const { skills, logged } = await open({ sandbox: moduleOf("sandbox", sandbox("container")) });
  const run = await skills.call("execute_skill", { name: "acme.add" });
  expect(run).toMatchObject({
    status: "completed",
    output: { skill: "acme.add", files: ["SKILL.md", "code/main.py", "skill.toml"] },
    limits_applied: { isolation: "container" },
    logs_preview: expect.stringContaining("printed") as string,
  });
  expect(logged).toContain(`info data in ${path.join(directory, "data")}`);
});

test.each(["none", "", "Not A Name"])("a given sandbox cannot be called %j", async (tier) => {
  const { skills } = await open({ sandbox: moduleOf("sandbox", sandbox(tier)) });
  const refused: unknown = await skills.call("execute_skill", { name: "acme.add" }).catch((error: unknown) => error);
  expect(isSkillsError(refused, "SANDBOX_UNAVAILABLE") && refused.message).toContain(
    "ports.sandbox: its tier must match",
  );
});

test("a given sandbox that cannot be opened is opened again for the next run, and ours is not used", async () => {
  const file = moduleOf(
    "sandbox",
    `let tries = 0;
     export default () => { throw new Error("no daemon, try " + ++tries); };`,
  );
  const { skills } = await open({ sandbox: file });
  for (const number of [1, 2])
    await expect(skills.call("execute_skill", { name: "acme.add" })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringContaining(`no daemon, try ${number}`) as string,
    });
});

test("uses, blobs and approvals are stored where the given modules put them", async () => {
  const trace = path.join(directory, "trace.txt");
  const tracing = `
    import { appendFileSync } from "node:fs";
    const note = (text) => appendFileSync(${JSON.stringify(trace)}, text + "\\n");`;
  const ledger = `${tracing}
    export default () => ({ record: ({ event, tool }) => note("ledger " + (event ?? tool)), async *read() {}, close: () => note("ledger closed") });`;
  const blobs = `${tracing}
    const id = "blob:aaaaaaaaaaaaaaaaaaaaaaaa";
    const stored = { id, size: 2, kind: "text/plain", sha256: "0".repeat(64) };
    export default ({ blobs }) => ({
      put: async () => (note("blob put, at most " + blobs.maxBlobBytes), stored),
      stat: async () => stored,
      async *read() { yield Buffer.from("hi"); },
      hold: async () => async () => undefined,
      remove: async () => undefined,
      async *list() {},
      sweep: async () => ({ removed: 0, freedBytes: 0, held: 0 }),
      close: async () => note("blobs closed"),
    });`;
  const { skills } = await open(
    { ledger: moduleOf("ledger", ledger), blobs: pathToFileURL(moduleOf("blobs", blobs)) },
    { blobs: { maxBlobBytes: 10 } },
  );
  const { blob_id } = await skills.call("create_blob", { content: "hi", kind: "text/plain" });
  expect(await skills.call("read_blob", { blob_id, mode: "full" })).toMatchObject({ content: "hi" });
  await skills.close();
  const lines = readFileSync(trace, "utf8").trim().split("\n");
  expect(lines).toEqual(expect.arrayContaining(["blob put, at most 10", "ledger create_blob", "ledger read_blob"]));
  expect(lines.slice(-2).sort()).toEqual(["blobs closed", "ledger closed"]);
});

test.each([
  ["is missing", undefined, "cannot be loaded: "],
  ["throws when it is loaded", "throw new Error('broken');", "cannot be loaded: broken"],
  ["exports no function", "export default { tier: 'x' };", "has no function as its default export."],
  [
    "rejects",
    "export default () => Promise.reject(new Error('the database is gone'));",
    "cannot be opened: the database",
  ],
  [
    "lacks methods",
    "export default () => ({ read: 1, scopes: () => [] });",
    "without read, change, readCopy, keepCopy.",
  ],
])(
  "without approvals whose module %s there are no skills, instead of the approvals of this machine",
  async (_what, text, reason) => {
    const file = text === undefined ? path.join(directory, "missing.mjs") : moduleOf("approvals", text);
    const logged: string[] = [];
    const message = expect.stringContaining(`ports.approvals: ${pathToFileURL(file).href} `) as string;
    const opening = open({ approvals: file }, { log: (_level: string, line: string) => void logged.push(line) });
    await expect(opening).rejects.toMatchObject({ code: "INVALID_OPTIONS", message });
    await expect(opening).rejects.toThrow(reason);
    expect(logged.join("\n")).toContain(reason);
  },
);

test("a misspelled port is named, with the nearest", async () => {
  await expect(open({ approval: "x.mjs" })).rejects.toMatchObject({
    code: "INVALID_OPTIONS",
    facts: { option: "ports.approval", nearest: "approvals" },
  });
});

test("skills of sources are read by the given reader", async () => {
  const file = moduleOf(
    "sources",
    `const skill = { name: "far", description: "Is far away.", content: { type: "skill-md", url: "https://skills.example/far.md" } };
     export default () => ({
       read: async (source) => ({ source, form: "agent-skills-0.2", skills: [skill], problems: [] }),
       skillFiles: async () => [{ path: "SKILL.md", bytes: Buffer.from("---\\nname: far\\ndescription: Is far away.\\n---\\n"), executable: false }],
       close: async () => undefined,
     });`,
  );
  const { skills } = await open({ sources: file }, { sources: ["https://skills.example"] });
  await expect
    .poll(async () => (await skills.list()).map(({ name }) => name), { timeout: 15_000 })
    .toEqual(expect.arrayContaining(["acme-add", "far"]));
});
