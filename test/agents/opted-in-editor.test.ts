import { client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { optIn } from "../../src/client/initialize.ts";
import { observeSkills } from "../../src/client/observe-skills.ts";
import type { SkillsUpdate } from "../../src/client/skills-update.ts";
import { removeSkill, writeSkill } from "./playground.ts";
import { prepareWrapped } from "./prepared.ts";
import { claude } from "./real-agents.ts";

const skill = { name: "outside-the-project", description: "Rhymes.", instructions: "RHYME: answer in rhyme." };

test("lets an editor that opted in observe edited and removed skills with Claude", async () => {
  const { playground, wrapped } = await prepareWrapped(claude, skill);
  const observed: SkillsUpdate[] = [];
  const stream = observeSkills(wrapped.stream, (update) => {
    observed.push(update);
    wrapped.lookAgain();
  });
  const { agent } = client({ name: "opted-in-editor" })
    .onNotification(methods.client.session.update, () => undefined)
    .connect(stream);
  await agent.request(methods.agent.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: optIn(),
  });
  await agent.request(methods.agent.session.new, { cwd: playground.project, mcpServers: [] });

  const descriptions = () => observed.at(-1)?.skills.map(({ description }) => description);
  await wrapped.until("the skill", () => descriptions()?.join() === "Rhymes.");
  await writeSkill(playground.explicitSkills, { ...skill, description: "Rhymes better." });
  await wrapped.until("the edited skill", () => descriptions()?.join() === "Rhymes better.");
  await removeSkill(playground.explicitSkills, skill.name);
  await wrapped.until("an empty list", () => descriptions()?.length === 0);

  expect(await wrapped.close()).toBe(0);
});
