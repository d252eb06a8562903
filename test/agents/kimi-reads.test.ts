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
