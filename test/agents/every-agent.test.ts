import { methods } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { questions } from "./mock-model.ts";
import { prepareEditor } from "./prepared.ts";
import { claude, codex, codexOld, copilot, gemini, kimi, opencode, pi, qwen } from "./real-agents.ts";

const skill = { name: "outside-the-project", description: "Rhymes.", instructions: "RHYME: answer in rhyme." };

test.each(
  [claude, opencode, codex, codexOld, gemini, qwen, copilot, kimi, pi].map((agent) => [agent.name, agent] as const),
)("%s: sends arguments and instructions to the model and shows none of our text to the user", async (_name, agent) => {
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
  const sentence = 'Use the skill \\"outside-the-project\\": about parsers\\n';
  expect(invoked).toContain(sentence);
  expect(invoked.lastIndexOf(sentence)).toBeLessThan(invoked.indexOf(skill.instructions));
  await editor.prompt(sessionId, "And now?");
  await editor.prompt(sessionId, "And then?");
  const last = JSON.stringify(questions(model).at(-1)?.body);
  // If an agent asks for the tools after the first prompt, there are two lessons, for paths and for tools, each sent once.
  const lessons = taughtIn(last);
  expect(lessons.length, last).toBeGreaterThan(0);
  expect(lessons, last).toEqual([...new Set(lessons)]);

  const { agentCapabilities } = editor.initialized;
  // Some models take no images, which agents know by their names.
  const sees = async (text: string): Promise<boolean> => {
    const before = questions(model).length;
    const prompt = [
      { type: "text" as const, text },
      { type: "image" as const, mimeType: "image/png", data: picture },
    ];
    await editor.agent.request(methods.agent.session.prompt, { sessionId, prompt });
    return questions(model)
      .slice(before)
      .some(({ body }) => lastMessage(body).includes(picture));
  };
  if (agentCapabilities?.promptCapabilities?.image && (await sees("What is this?")))
    expect(await sees(`/${skill.name} about this picture`)).toBe(true);
  if (agentCapabilities?.sessionCapabilities?.list) {
    const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd: playground.project });
    for (const { title } of sessions) expect(title ?? "").not.toMatch(/acp-skills|Use the skill|RHYME/);
  }
  const session = { sessionId, cwd: playground.project, mcpServers: [] };
  // Some refuse to load a session that is open.
  if (agentCapabilities?.loadSession)
    await editor.agent.request(methods.agent.session.load, session).catch(() => undefined);
  const told = editor.received.filter((message) => "method" in message && message.method === "session/update");
  expect(JSON.stringify(told)).not.toMatch(/-acp-skills (?:index|skill)=|acp-skills:skill|RHYME/);
});

/** The last message of a request, in each of the models' interfaces. */
function lastMessage(body: unknown): string {
  const { messages, input, contents } = body as Readonly<Record<string, readonly unknown[] | undefined>>;
  return JSON.stringify((messages ?? input ?? contents)?.at(-1) ?? "");
}

/** One pixel. */
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** How each lesson in a request instructs the model to use skills. */
function taughtIn(body: string): readonly string[] {
  return [...body.matchAll(/read the SKILL\.md at its path|documents all the tools/g)].map(([way]) => way);
}
