import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type * as acpSkills from "../../src/index.ts";
import type { OpenSkillsOptions, Skills, SkillsChange } from "../../src/index.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-thread-"));
  const skill = path.join(directory, ".agents/skills/pdf");
  mkdirSync(skill, { recursive: true });
  writeFileSync(path.join(skill, "SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\n");
  return () => {
    rmSync(directory, { recursive: true, force: true });
  };
});

/** The built package, whose tools run on a thread of their own. */
async function open(options: OpenSkillsOptions = {}): Promise<Skills> {
  const built = new URL("../../dist/index.js", import.meta.url).href;
  const { openSkills } = (await import(built)) as typeof acpSkills;
  for (const name of ["HOME", "USERPROFILE"]) vi.stubEnv(name, path.join(directory, "home"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const skills = await openSkills({
    cwd: directory,
    dataDirectory: path.join(directory, "data"),
    ...options,
  });
  onTestFinished(() => skills.close());
  return skills;
}

test("the tools answer from their own thread, with typed errors", async () => {
  const skills = await open();
  expect((await skills.call("list_skills")).skills.map(({ name }) => name)).toEqual(["pdf", "skills.protocol.guide"]);
  await expect(skills.call("describe_skill", { name: "pfd" })).rejects.toMatchObject({
    code: "SKILL_NOT_FOUND",
    facts: { available: expect.arrayContaining(["pdf"]) as unknown },
  });
});

test("whether a skill is visible is asked at each call", async () => {
  let hidden = "pdf";
  const skills = await open({ visible: ({ name }) => name !== hidden });
  const names = async (): Promise<string[]> => (await skills.call("list_skills")).skills.map(({ name }) => name);
  expect(await names()).toEqual(["skills.protocol.guide"]);
  hidden = "";
  expect(await names()).toEqual(["pdf", "skills.protocol.guide"]);
});

test("arguments that cannot be sent to a thread are refused", async () => {
  const skills = await open();
  const name: string = "list_skills";
  await expect(skills.call(name, { limit: () => 1 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a call that is given up while it waits rejects with the signal's reason", async () => {
  const skills = await open();
  const controller = new AbortController();
  const reason = new Error("enough");
  const call = skills.call("run_code", { language: "python", code: "def main():\n  while True: pass" }, controller);
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
});

test("what a caller's own function throws ends its call, and nothing else", async () => {
  let isBroken = true;
  const fault = new Error("a fault of the caller's");
  const skills = await open({
    visible() {
      if (isBroken) throw fault;
      return true;
    },
  });
  await expect(skills.call("list_skills")).rejects.toBe(fault);
  isBroken = false;
  expect((await skills.call("list_skills")).skills).toHaveLength(2);
});

test("changes and problems of skills are told, whatever a listener throws", async () => {
  const logged: string[] = [];
  const skills = await open({ log: (level, message) => void logged.push(`${level} ${message}`) });
  expect(skills.problems).toEqual([]);
  const changes: SkillsChange[] = [];
  skills.onChange(() => {
    throw new Error("a fault of the listener's");
  });
  const stop = skills.onChange((change) => void changes.push(change));
  const broken = path.join(directory, ".agents/skills/broken");
  mkdirSync(broken);
  writeFileSync(path.join(broken, "SKILL.md"), "---\nname: Broken\ndescription: Is fine.\n---\n");
  await expect.poll(() => changes, { timeout: 10_000 }).toEqual([{ added: ["broken"], changed: [], removed: [] }]);
  expect(skills.problems.map(({ file }) => file)).toContain(path.join(broken, "SKILL.md"));
  expect(logged).toContainEqual(expect.stringContaining("a fault of the listener's"));
  stop();
  rmSync(broken, { recursive: true });
  await expect.poll(() => skills.problems, { timeout: 10_000 }).toEqual([]);
  expect(changes).toHaveLength(1);
});

test("a call is reported to the editor when it is asked to be", async () => {
  const skills = await open();
  const sent: { method: string; params: unknown }[] = [];
  const send = (method: string, params: unknown): void => void sent.push({ method, params });
  await skills.call("describe_skill", { name: "pdf" }, { report: { sessionId: "s", send, toolCallId: "c" } });
  const update = { sessionId: "s", update: { toolCallId: "c", status: "in_progress", name: "describe_skill" } };
  expect(sent).toMatchObject([
    { method: "session/update", params: update },
    { method: "session/update", params: { update: { toolCallId: "c", status: "completed" } } },
  ]);
});
