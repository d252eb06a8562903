import {
  type AvailableCommand,
  PROTOCOL_VERSION,
  type SessionUpdate,
  client,
  methods,
} from "@agentclientprotocol/sdk/experimental/v2";
import { expect, test } from "vitest";
import { lastUserParts, questions } from "./mock-model.ts";
import { writeSkill } from "./playground.ts";
import { prepareWrapped } from "./prepared.ts";
import { claude } from "./real-agents.ts";

const skill = { name: "outside-the-project", description: "Rhymes.", instructions: "RHYME: answer in rhyme." };

test("sends Claude's client skills and edits over protocol v2, and lets it invoke one", async () => {
  const { playground, model, wrapped } = await prepareWrapped(claude, skill);
  const updates: SessionUpdate[] = [];
  const { agent } = client({ name: "test-editor" })
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      updates.push(update);
      wrapped.lookAgain();
    })
    .connect(wrapped.stream);

  const initialized = await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    info: { name: "test-editor", version: "1.0.0" },
    capabilities: {},
  });
  expect(initialized.protocolVersion).toBe(2);
  expect(initialized.capabilities?._meta).toMatchObject({
    "acp-skills": { tools: expect.arrayContaining(["list_skills"]) as string[] },
  });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: playground.project, mcpServers: [] });

  const latest = (): readonly AvailableCommand[] => {
    const update = updates.findLast(({ sessionUpdate }) => sessionUpdate === "available_commands_update");
    return (update as { availableCommands?: AvailableCommand[] } | undefined)?.availableCommands ?? [];
  };
  const listed = (description: string) =>
    latest().some((command) => command.name === skill.name && command.description === description);
  await wrapped.until("the skill as a command", () => listed(skill.description));
  expect(latest()).toContainEqual(expect.objectContaining({ name: skill.name, type: "command" }));
  expect(latest()).toContainEqual(expect.objectContaining({ name: claude.ownCommand, type: "command" }));

  await writeSkill(playground.explicitSkills, { ...skill, description: "Rhymes better." });
  await wrapped.until("the edited description", () => listed("Rhymes better."));

  await agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: "text", text: `/${skill.name} about parsers` }],
  });
  await wrapped.until("the end of the turn", () => {
    return updates.some((update) => update.sessionUpdate === "state_update" && update.state === "idle");
  });
  const invoked = questions(model).find((question) => lastUserParts(question).join("\n").includes(skill.instructions));
  expect(invoked && lastUserParts(invoked).join("\n")).toContain(`Use the skill "${skill.name}": about parsers`);

  expect(await wrapped.close()).toBe(0);
});
