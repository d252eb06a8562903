import { describe, expect, test } from "vitest";
import { type Conversation, clients, converseInSession, listCommands, prompt } from "../../conversation.ts";
import { fakeTools } from "../../fake-tools.ts";
import { memorySkillset, offer } from "../../memory-skillset.ts";

const skillset = (): ReturnType<typeof memorySkillset> =>
  memorySkillset([
    offer("both"),
    offer("for-people", { disableModelInvocation: true, argumentHint: "[version]" }),
    offer("for-models", { userInvocable: false }),
  ]);
type Command = { readonly name: string; readonly input?: { readonly hint: string } };

function commandsOf([update]: readonly Record<string, unknown>[]): readonly Command[] {
  return (update?.["availableCommands"] ?? []) as Command[];
}

async function said({ editor, atAgent }: Conversation, words: string): Promise<string> {
  await editor(prompt(words));
  return JSON.stringify(atAgent.at(-1)?.params);
}

describe("user-invocable: false", () => {
  test("omits a skill from the editor's commands, but not from the list of skills", async () => {
    const conversation = await converseInSession(clients.optedIn, { skillset: skillset() });
    await conversation.settle();
    const updates = conversation.take();
    expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "available_skills_update",
      "available_commands_update",
    ]);
    const [listed] = updates as { availableSkills?: { name: string; _meta: Record<string, unknown> }[] }[];
    const flagged = listed?.availableSkills?.filter(({ _meta }) =>
      JSON.stringify(_meta).includes('"userInvocable":false'),
    );
    expect(flagged?.map(({ name }) => name)).toEqual(["for-models"]);
    expect(commandsOf(updates.slice(1)).map(({ name }) => name)).toEqual(["both", "for-people"]);
  });

  test("omits it when merging into the agent's list", async () => {
    const conversation = await converseInSession({}, { skillset: skillset() });
    await conversation.settle();
    conversation.take();
    conversation.agent(listCommands("init"));
    expect(commandsOf(conversation.take()).map(({ name }) => name)).toEqual(["init", "both", "for-people"]);
  });

  test("forwards /name unchanged", async () => {
    const conversation = await converseInSession({}, { skillset: skillset(), instructModel: false });
    expect(await said(conversation, "/for-models x")).toContain('"text":"/for-models x"');
    expect(await said(conversation, "/both x")).toContain('Use the skill \\"both\\": x');
  });
});

describe("disable-model-invocation: true", () => {
  test("omits a skill from the lesson, but not from the commands", async () => {
    const conversation = await converseInSession({}, { skillset: skillset(), tools: fakeTools() });
    await conversation.settle();
    expect(commandsOf(conversation.take()).map(({ name }) => name)).toEqual(["both", "for-people"]);
    const taught = await said(conversation, "hello");
    expect(taught).toContain("- both (");
    expect(taught).toContain("- for-models (");
    expect(taught).not.toContain("for-people");
  });

  test("omits changes of it from updates to the model", async () => {
    const skills = skillset();
    const conversation = await converseInSession({}, { skillset: skills, tools: fakeTools() });
    await conversation.settle();
    await said(conversation, "hello");
    skills.set([offer("both"), offer("for-models"), offer("other-people", { disableModelInvocation: true })]);
    expect(await said(conversation, "again")).not.toContain("-acp-skills index=");
  });

  test("lets the user invoke it by /name", async () => {
    const conversation = await converseInSession({}, { skillset: skillset(), instructModel: false });
    const sent = await said(conversation, "/for-people 1.2");
    expect(sent).toContain('Use the skill \\"for-people\\": 1.2');
    expect(sent).toContain("Do it well.");
  });
});

test("uses argument-hint as the hint of a skill's command", async () => {
  const conversation = await converseInSession({}, { skillset: skillset() });
  await conversation.settle();
  expect(commandsOf(conversation.take()).map(({ input }) => input?.hint)).toEqual(["what to do", "[version]"]);
});
