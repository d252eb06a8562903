import { expect, onTestFinished, test } from "vitest";
import { openMockModel } from "./mock-model.ts";
import { openEditor } from "./open-editor.ts";
import { makePlayground } from "./playground.ts";
import { spendDay } from "./day.ts";
import { delegationOf } from "./delegate.ts";
import { claude, codex, copilot, gemini, kilo, kimi, opencodeByDefault, qwen } from "./real-agents.ts";
import { writeRunningSkills } from "./running-skills.ts";

test.each([claude, gemini, copilot, kimi].map((agent) => [agent.name, agent] as const))(
  "%s: the person is asked once, about what needs the network, and sees what each call did",
  async (name, agent) => {
    const playground = await makePlayground();
    onTestFinished(playground.remove);
    const model = await openMockModel();
    onTestFinished(model.close);
    await writeRunningSkills(playground.explicitSkills, { statusUrl: `${model.url}/v1/models` });
    const editor = await openEditor(agent, playground, { modelUrl: model.url });
    onTestFinished(async () => {
      await editor.close();
    });
    const sessionId = await editor.openSession();
    // Some agents connect to servers during their first turn.
    await editor.prompt(sessionId, "Hello.");
    const calls = [
      {
        tool: "execute_skill",
        input: { name: "line-count", script: "scripts/count.py", args: { stdin: "a\nb\n" } },
      },
      { tool: "run_code", input: { language: "python", code: "def main():\n    return {'a': 1}" } },
      { tool: "run_code", input: { language: "python", code: "def main():\n    return {}['x']" } },
      { tool: "execute_skill", input: { name: "status.fetch" } },
      { tool: "execute_skill", input: { name: "nonesuch" } },
      { tool: "list_skills", input: {} },
    ];
    model.plan(calls);
    await editor.prompt(sessionId, "Do all of it.");
    expect(editor.permissions.map(({ title }) => title)).toEqual([
      expect.stringMatching(/: run status\.fetch 1\.0\.0/),
    ]);
    const told = JSON.stringify(
      editor.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call")),
    );
    expect(told, name).toContain("Run Python code failed (KeyError: 'x')");
    expect(told, name).toContain('Run skill nonesuch failed (Unknown skill \\"nonesuch\\")');
    expect(told, name).toContain('Completed.\\n{\\"a\\":1}');
    expect(told, name).toContain("line-count 0.0.0");
  },
);

test.each(
  [claude, codex, opencodeByDefault, gemini, copilot, kimi, qwen, kilo].map((agent) => [agent.name, agent] as const),
)(
  "%s: a day of 200 calls, 20 skills, subagents, and loaded, resumed and forked sessions has one question, which is ours",
  { timeout: 900_000 },
  async (_name, agent) => {
    const { questions, calls, delegated } = await spendDay(agent);
    expect([calls, delegated]).toEqual([200, delegationOf(agent, "") === undefined ? 0 : 50]);
    expect(questions).toEqual([expect.stringMatching(/^new: .*: run status\.fetch 1\.0\.0/)]);
  },
);
