import { expect, onTestFinished, test } from "vitest";
import { openMockModel } from "./mock-model.ts";
import { openEditor } from "./open-editor.ts";
import { makePlayground } from "./playground.ts";
import { kimi } from "./real-agents.ts";
import { writeRunningSkills } from "./running-skills.ts";

test("Kimi Code's person is asked about a skill once, and not about reads", async () => {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  await writeRunningSkills(playground.explicitSkills, { statusUrl: `${model.url}/v1/models` });
  const editor = await openEditor(kimi, playground, { modelUrl: model.url });
  onTestFinished(async () => {
    await editor.close();
  });
  const sessionId = await editor.openSession();
  model.plan([
    { tool: "list_skills", input: {} },
    { tool: "create_blob", input: { content: "hello", kind: "text/plain" } },
    { tool: "execute_skill", input: { name: "status.fetch" } },
  ]);
  expect(await editor.prompt(sessionId, "Fetch it.")).toBe("end_turn");
  expect(model.results.at(-1)).toContain('"status":"completed"');
  expect(editor.permissions.map(({ title }) => title)).toEqual([expect.stringMatching(/: run status\.fetch 1\.0\.0/)]);
});

test("Kimi Code's person is not asked about a subagent's reads, but about all else that it calls", async () => {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  await writeRunningSkills(playground.explicitSkills, { statusUrl: `${model.url}/v1/models` });
  const editor = await openEditor(kimi, playground, { modelUrl: model.url });
  onTestFinished(async () => {
    await editor.close();
  });
  const sessionId = await editor.openSession();
  await editor.prompt(sessionId, "Hello.");
  model.plan([
    { tool: "Agent", input: { description: "Look", prompt: "Look at the skills." }, startsSubagent: true },
    { tool: "list_skills", input: {} },
    { tool: "describe_skill", input: { name: "line-count" } },
    { tool: "read_skill_file", input: { name: "line-count", path: "SKILL.md" } },
    { tool: "load_skills_protocol_guide", input: {} },
    { tool: "create_blob", input: { content: "hello", kind: "text/plain" } },
    { tool: "run_code", input: { language: "python", code: "def main():\n    return 1\n" } },
  ]);
  expect(await editor.prompt(sessionId, "Let a subagent look.")).toBe("end_turn");
  expect(model.results).toHaveLength(6);
  expect(editor.permissions.map(({ title }) => title)).toEqual(["Create a blob", "Run Python code"]);
});
