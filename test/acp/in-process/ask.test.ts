import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { type OpenSkillsOptions, type Question, type Skills, openSkills } from "../../../src/index.ts";
import { refusal } from "../../runtime/tools/open-tools.ts";

let directory = "";
let skills: Skills | undefined;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(path.join(tmpdir(), "acp-skills-ask-")));
  const skill = path.join(directory, "project/.agents/skills/notes");
  mkdirSync(skill, { recursive: true });
  writeFileSync(path.join(skill, "SKILL.md"), "---\nname: notes\ndescription: Takes notes.\n---\n# Notes\n");
});
afterEach(async () => {
  await skills?.close();
  rmSync(directory, { recursive: true, force: true });
});

async function open(ask?: OpenSkillsOptions["ask"]): Promise<Skills> {
  for (const name of ["HOME", "USERPROFILE"]) vi.stubEnv(name, path.join(directory, "home"));
  onTestFinished(() => void vi.unstubAllEnvs());
  skills = await openSkills({
    cwd: path.join(directory, "project"),
    dataDirectory: path.join(directory, "data"),
    ...(ask && { ask }),
  });
  return skills;
}

const file = { name: "notes", path: "SKILL.md" };

test("a model does not read the skills of a project where nobody can be asked", async () => {
  const opened = await open();
  expect(await refusal(opened.call("read_skill_file", file))).toMatchObject({
    code: "PERMISSION_DENIED",
    message: expect.stringContaining("There is nobody to ask here.") as string,
  });
  expect(await refusal(opened.call("describe_skill", { name: "notes", detail: "full" }))).toMatchObject({
    code: "PERMISSION_DENIED",
  });
  expect(await opened.call("describe_skill", { name: "notes" })).toMatchObject({
    skill: { manifest: { name: "notes" } },
  });
});

test("the embedder's person is asked once, and the answer is stored", async () => {
  const asked: Question[] = [];
  const opened = await open((question) => {
    asked.push(question);
    return Promise.resolve("trust");
  });
  expect(await opened.call("read_skill_file", file)).toMatchObject({
    content: expect.stringContaining("# Notes") as string,
  });
  await opened.call("read_skill_file", file);
  expect(asked.map(({ title }) => title)).toEqual([
    `Let the model read the instructions of notes and the other skills that came with this project (${directory}/project)`,
  ]);
  await skills?.close();
  expect(await (await open()).call("read_skill_file", file)).toMatchObject({ encoding: "utf-8" });
});

test.each<[string, NonNullable<OpenSkillsOptions["ask"]>]>([
  ["is none", () => Promise.resolve(undefined)],
  ["was not offered", () => Promise.resolve("yes" as "trust")],
  ["is an exception", () => Promise.reject(new Error("the window was closed"))],
])("an answer that %s allows nothing", async (_, ask) => {
  const opened = await open(ask);
  expect(await refusal(opened.call("read_skill_file", file))).toMatchObject({ code: "PERMISSION_DENIED" });
});

test("a question is withdrawn when its call is cancelled", async () => {
  const controller = new AbortController();
  let withdrawn: AbortSignal | undefined;
  const opened = await open((_question, signal) => {
    withdrawn = signal;
    controller.abort(new Error("no longer wanted"));
    return new Promise(() => undefined);
  });
  await expect(opened.call("read_skill_file", file, { signal: controller.signal })).rejects.toThrow("no longer wanted");
  await expect.poll(() => withdrawn?.aborted).toBe(true);
});
