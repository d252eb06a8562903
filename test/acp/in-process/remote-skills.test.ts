import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type * as acpSkills from "../../../src/index.ts";
import type { OpenSkillsOptions, Skills, SkillsChange } from "../../../src/index.ts";

let directory = "";
beforeEach(({ onTestFinished: finished }) => {
  directory = mkdtempSync(path.join(tmpdir(), "acp-skills-thread-"));
  const skill = path.join(directory, ".agents/skills/pdf");
  mkdirSync(skill, { recursive: true });
  writeFileSync(path.join(skill, "SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\n");
  // Registered first, it runs after the skills were closed.
  finished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
});

/** Opens the built package, whose tools run on a worker thread. */
async function open(options: OpenSkillsOptions = {}): Promise<Skills> {
  const built = new URL("../../../dist/index.js", import.meta.url).href;
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

test("runs the tools on a worker thread, with typed errors", async () => {
  const skills = await open();
  expect((await skills.call("list_skills")).skills.map(({ name }) => name)).toEqual(["pdf", "skills.protocol.guide"]);
  await expect(skills.call("describe_skill", { name: "pfd" })).rejects.toMatchObject({
    code: "SKILL_NOT_FOUND",
    facts: { available: expect.arrayContaining(["pdf"]) as unknown },
  });
});

test("calls visible for each call of a tool", async () => {
  let hidden = "pdf";
  const skills = await open({ visible: ({ name }) => name !== hidden });
  const names = async (): Promise<string[]> => (await skills.call("list_skills")).skills.map(({ name }) => name);
  expect(await names()).toEqual(["skills.protocol.guide"]);
  hidden = "";
  expect(await names()).toEqual(["pdf", "skills.protocol.guide"]);
});

test("rejects arguments that cannot be cloned", async () => {
  const skills = await open();
  const name: string = "list_skills";
  await expect(skills.call(name, { limit: () => 1 })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("rejects a running call with the signal's reason when it is aborted", async () => {
  const skills = await open();
  const controller = new AbortController();
  const reason = new Error("enough");
  const call = skills.call("run_code", { language: "python", code: "def main():\n  while True: pass" }, controller);
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
});

test("rejects only the call whose callback throws", async () => {
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

test("reports changes and problems of skills even if a listener throws", async () => {
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

test("reports a call to the editor with the option report", async () => {
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
