import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { questions } from "./mock-model.ts";
import { prepareEditor } from "./prepared.ts";
import { claude, codex, copilot, gemini, opencode, pi, qwen } from "./real-agents.ts";

const skill = { name: "outside-the-project", description: "Rhymes.", instructions: "RHYME: answer in rhyme." };

test.each([claude, opencode, codex, gemini, qwen, copilot, pi].map((agent) => [agent.name, agent] as const))(
  "%s: sends arguments and instructions to the model and shows none of our text to the user",
  async (_name, agent) => {
    try {
      await agent.command();
    } catch (error) {
      console.warn(`${agent.name} is skipped, because it cannot be installed: ${String(error)}`);
      return;
    }
    const { playground, model, editor } = await prepareEditor(agent, skill);
    const sessionId = await editor.openSession();
    await editor.until("the skill as a command", () => {
      return editor.commands(sessionId).some(({ name }) => name === skill.name);
    });

    await editor.prompt(sessionId, `/${skill.name} about parsers`);
    const asked = questions(model).map(({ body }) => JSON.stringify(body));
    const invoked = asked.find((body) => body.includes(skill.instructions)) ?? "";
    expect(invoked).toContain('Use the skill \\"outside-the-project\\": about parsers\\n');
    await editor.prompt(sessionId, "And now?");
    await editor.prompt(sessionId, "And then?");
    const last = JSON.stringify(questions(model).at(-1)?.body);
    // If an agent asks for the tools after the first prompt, there are two lessons, for paths and for tools, each sent once.
    const lessons = taughtIn(last);
    expect(lessons.length, last).toBeGreaterThan(0);
    expect(lessons, last).toEqual([...new Set(lessons)]);

    const { agentCapabilities } = editor.initialized;
    if (agentCapabilities?.sessionCapabilities?.list) {
      const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd: playground.project });
      for (const { title } of sessions) expect(title ?? "").not.toMatch(/acp-skills|Use the skill|RHYME/);
    }
    const told = editor.received.filter((message) => "method" in message && message.method === "session/update");
    expect(JSON.stringify(told)).not.toMatch(/-acp-skills (?:index|skill)=|RHYME/);
  },
);

/** How each lesson in a request tells the model to use skills. */
function taughtIn(body: string): readonly string[] {
  return [...body.matchAll(/read the SKILL\.md at its path|documents all the tools/g)].map(([way]) => way);
}
