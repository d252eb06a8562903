import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Conversation, clients, converseInSession, prompt } from "../../conversation.ts";
import { fakeTools } from "../../fake-tools.ts";
import { memorySkillset, offer } from "../../memory-skillset.ts";

async function converse(client: object): Promise<Conversation & { readonly policy: string }> {
  const directory = mkdtempSync(path.join(tmpdir(), "acp-skills-denied-"));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  const policy = path.join(directory, "policy.json");
  writeFileSync(policy, '{ "skills": { "deny": ["evil"] } }', { mode: 0o644 });
  const skillset = memorySkillset([offer("good"), offer("evil")]);
  const conversation = await converseInSession(client, { skillset, tools: fakeTools(), policy });
  await conversation.settle();
  return { ...conversation, policy };
}

async function said({ editor, atAgent }: Conversation, words: string): Promise<string> {
  await editor(prompt(words));
  return JSON.stringify(atAgent.at(-1)?.params);
}

test("a skill that the policy denies is no command and not taught, and the log says why", async () => {
  const conversation = await converse({});
  const commands = JSON.stringify(conversation.take());
  expect(commands).toContain('"good"');
  expect(commands).not.toContain("evil");
  const taught = await said(conversation, "hello");
  expect(taught).toContain("- good (");
  expect(taught).not.toContain("evil");
  expect(conversation.logged).toContain(
    `warning: The skill evil is not available: The policy in $ACP_SKILLS_POLICY (${conversation.policy}) denies the skill evil: skills.deny has "evil".`,
  );
});

test("invoking it forwards the prompt unchanged", async () => {
  const conversation = await converse({});
  await said(conversation, "hello");
  expect(await said(conversation, "/evil x")).toContain('"text":"/evil x"');
  expect(await said(conversation, "$evil x")).toContain('"text":"$evil x"');
  expect(conversation.logged.at(-1)).toMatch(/denies the skill evil.*The prompt was forwarded unchanged\.$/);
});

test("an editor that shows skills still gets it, marked", async () => {
  const conversation = await converse(clients.optedIn);
  const [skills, commands] = conversation.take().map((update) => JSON.stringify(update));
  expect(skills).toContain('"evil"');
  expect(skills?.match(/"state":"\w+"/g)).toEqual(['"state":"denied"']);
  expect(commands).not.toContain('"evil"');
});

test("once the policy allows it, it is taught with the next prompt", async () => {
  const conversation = await converse({});
  expect(await said(conversation, "hello")).not.toContain("evil");
  writeFileSync(conversation.policy, "{}");
  conversation.skillset.set([offer("good"), offer("evil"), offer("third")]);
  expect(await said(conversation, "again")).toContain("- evil (");
});
