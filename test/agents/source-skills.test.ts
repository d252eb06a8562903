import { expect, onTestFinished, test } from "vitest";
import { openServer } from "../serve/open-server.ts";
import { openMockModel } from "./mock-model.ts";
import { openEditor } from "./open-editor.ts";
import { makePlayground } from "./playground.ts";
import { claude, opencode } from "./real-agents.ts";

const skills = {
  "line-count/SKILL.md": "---\nname: line-count\ndescription: Counts lines.\n---\n\nRun scripts/count.py.\n",
  "line-count/scripts/count.py": 'import sys\nprint("lines:", len(sys.stdin.readlines()))\n',
};
const count = { name: "line-count", script: "scripts/count.py", args: { stdin: "a\nb\n" } };

const agents = [claude, opencode].map((agent) => [agent.name, agent] as const);

test.each(agents)("the model of %s reads a skill of another server, and runs it once allowed", async (_name, agent) => {
  const server = await openServer({ skills, access: { default: "public", public: [], restricted: [], private: [] } });
  onTestFinished(server.close);
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  const options = ["--source", server.url];
  const editor = await openEditor(agent, playground, { modelUrl: model.url, options });
  onTestFinished(async () => {
    await editor.close();
  });
  const sessionId = await editor.openSession();
  await expect
    .poll(() => editor.commands(sessionId).map(({ name }) => name), { timeout: 60_000 })
    .toContain("line-count");

  const isOurs = (title: unknown): boolean => String(title).includes(": run line-count");
  editor.answerWith("reject_once", ({ toolCall }) => isOurs(toolCall.title));
  model.plan([
    { tool: "describe_skill", input: { name: "line-count", detail: "full" } },
    { tool: "execute_skill", input: count },
  ]);
  expect(await editor.prompt(sessionId, "Count them.")).toBe("end_turn");
  expect(model.results[0]).toContain("Run scripts/count.py.");
  expect(model.results[1]).toContain("PERMISSION_DENIED");

  editor.answerWith("allow_once", ({ toolCall }) => isOurs(toolCall.title));
  model.plan([{ tool: "execute_skill", input: count }]);
  expect(await editor.prompt(sessionId, "/line-count Count them again.")).toBe("end_turn");
  expect(model.results.at(-1)).toContain("lines: 2");
  expect(editor.requests.filter(({ toolCall }) => isOurs(toolCall.title))).toHaveLength(2);
});
