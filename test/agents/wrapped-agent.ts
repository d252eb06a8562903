import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AvailableCommand } from "@agentclientprotocol/sdk";
import { type MockModel, lastUserParts, openMockModel, questions, reply } from "./mock-model.ts";
import { type Editor, openEditor } from "./open-editor.ts";
import { prepareEditor } from "./prepared.ts";
import { type Playground, makePlayground, processesWithHome, removeSkill, writeSkill } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";

/** The tests of the wrapper, for each real agent. */
export function describeWrappedAgent(agent: RealAgent): void {
  describe(`${agent.name} behind the wrapper`, () => {
    let playground: Playground;
    let model: MockModel;
    let editor: Editor;
    let projectSkills: string;
    let ownSkills: string;

    beforeAll(async () => {
      playground = await makePlayground();
      projectSkills = join(playground.project, ".agents/skills");
      ownSkills = join(playground.project, agent.ownSkills);
      await writeSkill(projectSkills, commitNotes);
      await writeSkill(projectSkills, changelogNotes);
      await writeSkill(ownSkills, sharedSkill);
      await writeSkill(playground.explicitSkills, explicitSkill);
      model = await openMockModel();
      editor = await openEditor(agent, playground, { modelUrl: model.url });
    });

    afterAll(async () => {
      await editor.close();
      await model.close();
      await playground.remove();
    });

    /** Opens a session and waits until the editor has received these skills. */
    async function openSession(names: readonly string[] = [explicitSkill.name]): Promise<string> {
      const sessionId = await editor.openSession();
      await editor.until(`commands of ${names.join(", ")}`, () =>
        names.every((name) => command(sessionId, name) !== undefined),
      );
      return sessionId;
    }

    function command(sessionId: string, name: string): AvailableCommand | undefined {
      return editor.commands(sessionId).find((candidate) => candidate.name === name);
    }

    /** The text parts of the last message of each model request in one turn. */
    async function asked(sessionId: string, text: string): Promise<(readonly string[])[]> {
      const before = questions(model).length;
      await editor.prompt(sessionId, text);
      return questions(model).slice(before).map(lastUserParts);
    }

    test("adds the advertisement to the agent's initialize response", () => {
      expect(editor.initialized.agentInfo?.version).toMatch(/^\d/);
      expect(editor.initialized.agentCapabilities?.loadSession).toBe(true);
      expect(editor.initialized.agentCapabilities?._meta).toMatchObject({ "acp-skills": { tools: toolNames } });
    });

    test("lists each skill once beside the agent's commands, after the session's response", async () => {
      const skills = [commitNotes, changelogNotes, sharedSkill, explicitSkill];
      const sessionId = await openSession(skills.map(({ name }) => name));
      const names = editor.commands(sessionId).map(({ name }) => name);
      expect(names).toContain(agent.ownCommand);
      expect(names).toEqual([...new Set(names)]);
      for (const { name, description } of skills) expect(command(sessionId, name)?.description).toContain(description);

      const opened = editor.received.findIndex(
        (message) => "result" in message && (message.result as { sessionId?: string }).sessionId === sessionId,
      );
      const told = editor.received.findIndex(
        (message) => "params" in message && (message.params as { sessionId?: string }).sessionId === sessionId,
      );
      expect(told).toBeGreaterThan(opened);
    });

    test.each([commitNotes, sharedSkill, explicitSkill].map((skill) => [skill.name, skill.instructions] as const))(
      "sends instructions and arguments of /%s to the model",
      async (name, instructions) => {
        const sessionId = await openSession([name]);
        const turns = await asked(sessionId, `/${name} for the parser`);
        const invoked = turns.find((parts) => parts.join("\n").includes(instructions));
        expect(invoked?.join("\n"), JSON.stringify(turns)).toContain("for the parser");
        expect(said(editor, sessionId)).toContain(reply);
      },
    );

    test("removes the prefix when invoking a skill that the agent does not know", async () => {
      const sessionId = await openSession();
      const turns = await asked(sessionId, `/${explicitSkill.name} without the prefix`);
      const invoked = turns.find((parts) => parts.join("\n").includes(explicitSkill.instructions));
      expect(invoked?.join("\n")).not.toContain(`/${explicitSkill.name} without`);
    });

    test("sends a plain prompt to the model unchanged", async () => {
      const sessionId = await openSession();
      const typed = `Say /${explicitSkill.name} ünd ${JSON.stringify({ n: 1 })} back`;
      const turns = await asked(sessionId, typed);
      expect(turns.filter((parts) => parts.includes(typed)).length, JSON.stringify(turns)).toBeGreaterThan(0);
      expect(JSON.stringify(turns)).not.toContain(explicitSkill.instructions);
    });

    test("sends the commands again after a skill is edited, added or removed", async () => {
      const skill = { name: "changing", description: "As it was.", instructions: "CHANGING-1" };
      await writeSkill(playground.explicitSkills, skill);
      const sessionId = await openSession([skill.name]);

      const edited = { ...skill, description: "As it is now.", instructions: "CHANGING-2" };
      await writeSkill(playground.explicitSkills, edited);
      await editor.until("the edited description", () => {
        return command(sessionId, skill.name)?.description === edited.description;
      });
      const turns = await asked(sessionId, `/${skill.name} again`);
      expect(JSON.stringify(turns)).toContain(edited.instructions);

      const added = { name: "newcomer", description: "Came later.", instructions: "NEWCOMER" };
      await writeSkill(playground.explicitSkills, added);
      await editor.until("the added skill", () => command(sessionId, added.name) !== undefined);
      expect(JSON.stringify(await asked(sessionId, `/${added.name} too`))).toContain(added.instructions);

      await removeSkill(playground.explicitSkills, added.name);
      await editor.until("the removed skill gone", () => command(sessionId, added.name) === undefined);
      expect(command(sessionId, skill.name)).toBeDefined();
      expect(command(sessionId, agent.ownCommand)).toBeDefined();
    });

    test("sends the commands again after an edit of a skill that the agent lists itself, and its new text to the model", async () => {
      const sessionId = await openSession([sharedSkill.name]);
      const edited = { ...sharedSkill, description: "Edited again.", instructions: "The freshly edited instructions." };
      await writeSkill(ownSkills, edited);
      await editor.until("the edited description as the command's", () => {
        return String(command(sessionId, sharedSkill.name)?.description).includes("Edited again.");
      });
      expect(editor.commands(sessionId).filter(({ name }) => name === sharedSkill.name)).toHaveLength(1);
      const turns = await asked(sessionId, `/${sharedSkill.name} for the parser`);
      const invoked = turns.find((parts) => parts.join("\n").includes(edited.instructions));
      expect(invoked?.join("\n"), JSON.stringify(turns)).toContain("for the parser");
      await writeSkill(ownSkills, sharedSkill);
    });

    test("sends no messages that require opt-in to an editor that did not opt in", async () => {
      const sessionId = await openSession();
      await editor.prompt(sessionId, "hello");
      const told = editor.received.filter((message) => "method" in message).map((message) => JSON.stringify(message));
      expect(told.length).toBeGreaterThan(0);
      expect(told.filter((text) => text.includes("available_skills_update"))).toEqual([]);
      expect(told.filter((text) => text.includes('"method":"_acp-skills/'))).toEqual([]);
      const attached = editor.commands(sessionId).filter(({ _meta }) => _meta?.["acp-skills"] !== undefined);
      expect(attached).toEqual([]);
    });
  });

  test.each([
    ["HTTP", []],
    ["stdio", ["--tools", "stdio"]],
  ])(`${agent.name}'s model learns about skills and uses the tools over %s`, async (_transport, options) => {
    const { model, editor } = await prepareEditor(agent, explicitSkill, options);
    const sessionId = await editor.openSession();
    const { name, instructions, description } = explicitSkill;
    const blobIn = (results: readonly string[]): string => /blob:[\w.-]+/.exec(results[3] ?? "")?.[0] ?? "";
    model.plan([
      { tool: "list_skills", input: { detail: "summary" } },
      { tool: "describe_skill", input: { name, detail: "full" } },
      { tool: "read_skill_file", input: { name, path: "SKILL.md" } },
      { tool: "create_blob", input: { content: "kept for later", kind: "text/plain" } },
      { tool: "read_blob", input: (results) => ({ blob_id: blobIn(results), mode: "full" }) },
    ]);
    await editor.prompt(sessionId, "Use the tools.");

    const [list, described, file, created, read] = model.results;
    expect(list).toContain(description);
    expect(described).toContain(instructions);
    expect(file).toContain(instructions);
    expect(created).toMatch(/blob:/);
    expect(read).toContain("kept for later");
    const asked = JSON.stringify(questions(model).map(({ body }) => body));
    expect(asked).toMatch(new RegExp(String.raw`- ${name}(?: \([^)]+\))?: \\"${description}\\"`));
    expect(said(editor, sessionId)).toContain(reply);
    // Agents ask before every call; these tools access only our own store, so the editor is asked only if the input is unknown.
    const asksEditor = agent.asksBeforeInput ? ["Create a blob", "Read a blob"] : [];
    expect(editor.permissions.map(({ title }) => title)).toEqual(asksEditor);
    expect(await editor.agent.request("_acp-skills/list_skills", { sessionId })).toMatchObject({
      skills: expect.arrayContaining([expect.objectContaining({ name })]) as unknown[],
    });
  });

  test.runIf(process.platform === "linux")(
    `${agent.name} and the wrapper end without leftover processes when the editor closes stdin`,
    async () => {
      const { playground, editor } = await prepareEditor(agent, explicitSkill);
      const sessionId = await editor.openSession();
      await editor.prompt(sessionId, "hello");
      expect(await processesWithHome(playground.home)).not.toEqual([]);
      expect(await editor.close()).toBe(0);
      // Claude's child processes end slightly after it, with or without the wrapper.
      await expect.poll(() => processesWithHome(playground.home), { timeout: 10_000 }).toEqual([]);
    },
  );
}

const commitNotes = {
  name: "commit-notes",
  description: "Writes commit messages.",
  instructions: "COMMIT-NOTES: name the file first.",
};
const changelogNotes = {
  name: "changelog-notes",
  description: "Collects what changed since the last release.",
  instructions: "CHANGELOG-NOTES: group by kind.",
};
const sharedSkill = {
  name: "listed-by-both",
  description: "A skill that the agent lists itself.",
  instructions: "LISTED-BY-BOTH: be brief.",
};
const explicitSkill = {
  name: "outside-the-project",
  description: "A skill from a folder the agent never looks at.",
  instructions: "OUTSIDE-THE-PROJECT: answer in rhyme.",
};

const toolNames = [
  ...["list_skills", "describe_skill", "read_skill_file", "execute_skill", "run_code"],
  ...["create_blob", "read_blob", "load_skills_protocol_guide"],
];

function said(editor: Editor, sessionId: string): string {
  return editor
    .updates(sessionId)
    .map((update) =>
      update.sessionUpdate === "agent_message_chunk" && update.content.type === "text" ? update.content.text : "",
    )
    .join("");
}
