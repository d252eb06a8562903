import { expect, test } from "vitest";
import { type Conversation, type Message, converseInSession, prompt } from "../../conversation.ts";
import { memorySkillset, offer } from "../../memory-skillset.ts";
import { AgentCommands, NativelyListedSkills } from "../../../../src/acp/service/announce/native-skills.ts";

const before = "Reads PDF files.";
const after = "Fills in forms.";

const lists = (description: string): Message => ({
  method: "session/update",
  params: {
    sessionId: "s",
    update: { sessionUpdate: "available_commands_update", availableCommands: [{ name: "pdf", description }] },
  },
});

/** A session whose agent is still silent, with one skill. */
async function converseWithSkill(): Promise<Conversation> {
  const skillset = memorySkillset([offer("pdf", { description: before })]);
  const edited = { body: "New text.", truncated: false, files: [], moreFiles: false, changedAt: 2 };
  const options = { skillset, readInstructions: () => Promise.resolve(edited) };
  const conversation = await converseInSession({}, options);
  await conversation.settle();
  return conversation;
}

test("recognises a skill in a list that the agent sends after an edit, with what it read before it", async () => {
  const { agent, editor, atAgent, skillset, take } = await converseWithSkill();
  skillset.set([offer("pdf", { description: after })]);
  take();
  agent(lists(before));
  expect(take()).toMatchObject([{ availableCommands: [{ name: "pdf", description: after }] }]);
  await editor(prompt("/pdf read it"));
  expect(JSON.stringify(atAgent.at(-1))).toContain("New text.");
});

test("drops a command from a list that the agent sends after the skill was deleted", async () => {
  const { agent, editor, atAgent, skillset, take } = await converseWithSkill();
  skillset.set([]);
  take();
  agent(lists(before));
  expect(take()).toMatchObject([{ availableCommands: [] }]);
  await editor(prompt("/pdf read it"));
  expect(JSON.stringify(atAgent.at(-1))).toContain("This skill was deleted while you ran.");
});

test("drops it when the skill was edited before the list, and deleted after it", async () => {
  const { agent, skillset, take } = await converseWithSkill();
  skillset.set([offer("pdf", { description: after })]);
  agent(lists(before));
  take();
  skillset.set([]);
  expect(take()).toMatchObject([{ availableCommands: [] }]);
});

test("recognises what the agent read before several changes, and drops it after a deletion among them", async () => {
  const { agent, skillset, take } = await converseWithSkill();
  skillset.set([offer("pdf", { description: after })]);
  skillset.set([offer("pdf", { description: after, directory: "/elsewhere/pdf" })]);
  take();
  agent(lists(before));
  expect(take()).toMatchObject([{ availableCommands: [{ name: "pdf", description: after }] }]);
  skillset.set([]);
  take();
  agent(lists(before));
  expect(take()).toMatchObject([{ availableCommands: [] }]);
});

test("leaves a command that says what the skill never said", async () => {
  const { agent, skillset, take } = await converseWithSkill();
  skillset.set([offer("pdf", { description: after })]);
  take();
  agent(lists("Prints the page."));
  expect(take()).toMatchObject([{ availableCommands: [{ name: "pdf", description: "Prints the page." }] }]);
  skillset.set([]);
  agent(lists("Prints the page."));
  expect(take().at(-1)).toMatchObject({ availableCommands: [{ name: "pdf", description: "Prints the page." }] });
});

test("recognises nothing by what the skill of another project was", () => {
  const native = new NativelyListedSkills();
  const [first, edited, other] = [before, after, "Merges pages."].map((description) => offer("pdf", { description }));
  native.changed({ removed: [], changed: [{ before: first!, after: edited! }] }, "/one");
  const list = new AgentCommands([{ name: "pdf", description: before }]);
  const shownIn = (directory: string): string | undefined => {
    native.learn(list, [other!], directory, () => true);
    return native.shown(list, other!, () => true)?.kind;
  };
  expect(shownIn("/two")).toBe("as-other");
  expect(shownIn("/one")).toBe("as-skill");
});
