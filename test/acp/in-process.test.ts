import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import type { FunctionTool } from "openai/resources/beta";
import { type OpenSkillsOptions, type Skills, openSkills } from "../../src/index.ts";
import { silentLog } from "../../src/base/log.ts";
import { toWireError } from "../../src/wire/error-table.ts";
import { describeTransports, transportSkills } from "../transports.ts";

let directory = "";
const opened: Skills[] = [];

beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-open-")));
});
afterEach(async () => {
  for (const skills of opened.splice(0)) await skills.close();
  rmSync(directory, { recursive: true, force: true });
});

function write(file: string, text: string): void {
  const target = path.join(directory, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, text);
}

function writeSkill(root: string, name: string): void {
  write(`${root}/${name}/SKILL.md`, `---\nname: ${name}\ndescription: Does ${name}.\n---\n# ${name}\n`);
}

async function open(options: OpenSkillsOptions = {}): Promise<Skills> {
  for (const name of ["HOME", "USERPROFILE"]) vi.stubEnv(name, path.join(directory, "home"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const skills = await openSkills({
    cwd: directory,
    dataDirectory: path.join(directory, "data"),
    ...options,
  });
  opened.push(skills);
  return skills;
}

async function namesOf(skills: Skills): Promise<string[]> {
  const answer = await skills.call("list_skills");
  return answer.skills.map(({ name }) => name);
}

describeTransports("in process", async (project) => {
  for (const [file, text] of Object.entries(transportSkills)) write(`skills/${file}`, text);
  const skills = await open({ directories: [path.join(directory, "skills")], defaultRoots: false });
  return {
    call: (tool, args) =>
      skills.call(tool, args, { sessionId: "s1", project }).then(
        (result) => ({ result }),
        (error: unknown) => ({ error: toWireError(error, { log: silentLog, newErrorId: () => "err_0" }) }),
      ),
    close: () => skills.close(),
  };
});

describe("openSkills", () => {
  test("finds skills in cwd, additional directories and the home directory", async () => {
    writeSkill(".agents/skills", "own");
    writeSkill("more/.claude/skills", "added");
    writeSkill("home/.agents/skills", "mine");
    writeSkill("explicit", "named");
    const skills = await open({
      additionalDirectories: [path.join(directory, "more")],
      directories: [path.join(directory, "explicit")],
    });
    expect(await namesOf(skills)).toEqual(["added", "mine", "named", "own", "skills.protocol.guide"]);
    const narrow = await open({ directories: [path.join(directory, "explicit")], defaultRoots: false });
    expect(await namesOf(narrow)).toEqual(["named", "skills.protocol.guide"]);
  });

  test("has the tools of each session, with a person of its own", async () => {
    writeSkill("one/.agents/skills", "first");
    writeSkill("two/.agents/skills", "second");
    const skills = await open();
    const [one, two] = ["one", "two"].map((project) => skills.forSession({ cwd: path.join(directory, project) }));
    if (one === undefined || two === undefined) throw new Error("There are two.");
    expect(await namesOf(one)).toEqual(["first", "skills.protocol.guide"]);
    expect(await namesOf(two)).toEqual(["second", "skills.protocol.guide"]);
    expect(one.tools("mcp")).toEqual(skills.tools("mcp"));
    await one.close();
    await expect(namesOf(one)).rejects.toMatchObject({ code: "CLOSED" });
    expect(await namesOf(two)).toEqual(["second", "skills.protocol.guide"]);
  });

  test("refuses a directory that does not exist", async () => {
    await expect(open({ cwd: path.join(directory, "none") })).rejects.toMatchObject({
      code: "INVALID_OPTIONS",
      message: `Option cwd: ${path.join(directory, "none")} does not exist.`,
    });
  });

  test("treats a skill that is not visible as unknown", async () => {
    writeSkill(".agents/skills", "shown");
    writeSkill(".agents/skills", "hidden");
    const skills = await open({ visible: ({ name }) => name !== "hidden" });
    expect(await namesOf(skills)).toEqual(["shown", "skills.protocol.guide"]);
    const refused = {
      code: "SKILL_NOT_FOUND",
      facts: { available: expect.not.arrayContaining(["hidden"]) as string[] },
    };
    await expect(skills.call("describe_skill", { name: "hidden" })).rejects.toMatchObject(refused);
  });

  test("logs each problem of skills once, like the command line", async () => {
    writeSkill(".agents/skills", "fine");
    write(".agents/skills/broken/SKILL.md", "no frontmatter");
    write(".agents/skills/styled/SKILL.md", "---\nname: Styled\ndescription: Does it.\n---\n");
    const told: string[] = [];
    const log = (level: string, message: string): void => void told.push(`${level} ${message}`);
    const skills = await open({ log, directories: [path.join(directory, "nowhere")] });
    const broken = `warning ${path.join(directory, ".agents/skills/broken/SKILL.md")}:1:1 `;
    expect(told.filter((line) => line.startsWith(broken))).toEqual([
      expect.stringMatching(/ frontmatter-[a-z-]+: .+\.$/),
    ]);
    expect(told.filter((line) => line.startsWith("warning "))).toHaveLength(2);
    expect(told.filter((line) => line.includes("nowhere"))).toHaveLength(1);
    write(".agents/skills/worse/SKILL.md", "no frontmatter");
    await expect.poll(() => told.filter((line) => line.includes("worse")), { timeout: 10_000 }).toHaveLength(1);
    expect(await namesOf(skills)).toContain("fine");
    expect(told.filter((line) => line.startsWith(broken))).toHaveLength(1);
  });

  test("shows edits without reopening", async () => {
    writeSkill(".agents/skills", "first");
    const skills = await open();
    writeSkill(".agents/skills", "second");
    await expect.poll(() => namesOf(skills), { timeout: 10_000 }).toContain("second");
  });

  test("restricts a blob to its owner, by default the session", async () => {
    const skills = await open();
    const { blob_id } = await skills.call("create_blob", { content: "x", kind: "text/plain" }, { sessionId: "one" });
    await expect(skills.call("read_blob", { blob_id }, { sessionId: "one" })).resolves.toMatchObject({ content: "x" });
    for (const other of [{ sessionId: "two" }, {}, { sessionId: "one", owner: "somebody" }]) {
      await expect(skills.call("read_blob", { blob_id }, other)).rejects.toMatchObject({ code: "BLOB_NOT_FOUND" });
    }
    const shared = await skills.call("create_blob", { content: "y", kind: "text/plain" }, { owner: "team" });
    const read = skills.call("read_blob", { blob_id: shared.blob_id }, { sessionId: "two", owner: "team" });
    await expect(read).resolves.toMatchObject({ content: "y" });
  });

  test("keeps blobs after closing and reopening", async () => {
    const first = await open();
    const { blob_id } = await first.call("create_blob", { content: "kept", kind: "text/plain" });
    await first.close();
    const second = await open();
    await expect(second.call("read_blob", { blob_id })).resolves.toMatchObject({ content: "kept" });
  });

  test("records uses in the ledger with session and outcome", async () => {
    writeSkill(".agents/skills", "own");
    const skills = await open();
    await skills.call("describe_skill", { name: "own" }, { sessionId: "s1" });
    await skills.call("describe_skill", { name: "nobody" }, { sessionId: "s1" }).catch(() => undefined);
    await skills.close();
    const lines = readFileSync(path.join(directory, "data/ledger/000001.jsonl"), "utf8").trimEnd().split("\n");
    const common = { tool: "describe_skill", session_id: "s1", door: "in-process" };
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { ...common, skill: "own", outcome: "completed" },
      { ...common, outcome: "refused", code: "SKILL_NOT_FOUND" },
    ]);
  });

  test("rejects an aborted call with the signal's reason", async () => {
    const skills = await open();
    const reason = new Error("enough");
    await expect(skills.call("list_skills", {}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test("rejects calls after close, which is idempotent", async () => {
    const skills = await open();
    await Promise.all([skills.close(), skills.close()]);
    await skills.close();
    await expect(skills.call("list_skills")).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("serves calls without blobs and logs it while the data directory is unusable", async () => {
    write("data", "a file");
    const told: string[] = [];
    const skills = await open({ log: (level, message) => void told.push(`${level}: ${message}`) });
    const create = () => skills.call("create_blob", { content: "x", kind: "text/plain" });
    await expect(create()).rejects.toMatchObject({ code: "QUOTA_EXCEEDED", facts: { limit: "disk" } });
    await skills.call("list_skills");
    expect(told).toEqual([
      expect.stringMatching(/^warning: Blobs cannot be stored: /),
      expect.stringMatching(/^warning: Uses of skills cannot be recorded in /),
    ]);
    rmSync(path.join(directory, "data"));
    const { blob_id } = await create();
    await expect(skills.call("read_blob", { blob_id })).resolves.toMatchObject({ content: "x" });
  });

  test.each([
    [{ cwd: 1 }, "Option cwd: expected a directory path, got number."],
    [{ additionalDirectories: "x" }, "Option additionalDirectories: expected an array of directory paths"],
    [{ visible: true }, "Option visible: expected a function of a skill, got boolean."],
    [{ visibel: () => true }, 'Did you mean "visible"?'],
  ])("rejects %j", async (options, message) => {
    const opening = openSkills(options as OpenSkillsOptions);
    await expect(opening).rejects.toMatchObject({ code: "INVALID_OPTIONS" });
    await expect(openSkills(options as OpenSkillsOptions)).rejects.toThrow(message);
  });

  test("returns tools in the format of each model API, with typed results", async () => {
    const skills = await open();
    expect(skills.tools("openai").map((tool) => tool.function.name)).toHaveLength(8);
    expect(skills.tools("anthropic").map(({ name }) => name)).toEqual(skills.tools("mcp").map(({ name }) => name));
    expectTypeOf(skills.tools("openai")).items.toExtend<FunctionTool>();
    const readBlob = () => skills.call("read_blob", { blob_id: "blob:x" });
    const callAny = (name: string) => skills.call(name);
    expectTypeOf(readBlob).returns.resolves.toHaveProperty("content").toEqualTypeOf<string | undefined>();
    expectTypeOf(callAny).returns.resolves.toBeUnknown();
    const typeOfFailure = async (): Promise<unknown> => {
      const run = await skills.call("run_code", { language: "perl", code: "1" });
      return run.status === "failed" ? run.error.type : run.output;
    };
    await expect(typeOfFailure()).rejects.toMatchObject({ code: "UNSUPPORTED_LANGUAGE" });
  });

  test("rejects a misspelled tool or argument at compile time and at run time", async () => {
    const skills = await open();
    // @ts-expect-error: unknown tool.
    await expect(skills.call("list_skill", {})).rejects.toMatchObject({ code: "METHOD_NOT_FOUND" });
    // @ts-expect-error: unknown argument.
    const misspelled = skills.call("describe_skill", { name: "x", detial: "full" });
    await expect(misspelled).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    // @ts-expect-error: missing argument.
    await expect(skills.call("describe_skill", {})).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
    // @ts-expect-error: wrong type of argument.
    await expect(skills.call("list_skills", { limit: "5" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  });
});
