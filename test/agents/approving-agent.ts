import { existsSync } from "node:fs";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type MockModel, openMockModel } from "./mock-model.ts";
import { type Editor, openEditor } from "./open-editor.ts";
import { makePlayground, type Playground } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";
import { writeRunningSkills } from "./running-skills.ts";

/** The tests of questions: about the tools of the agent, which a skill lists in `allowed-tools`, and about our own. */
export function describeApprovingAgent(agent: RealAgent): void {
  const { name: label, shell: tool = "" } = agent;
  let files = 0;
  /** A command that is never harmless to the agent, and the file that it makes. */
  const touch = (): {
    readonly tool: string;
    readonly input: { command: string; description: string };
    file: string;
  } => {
    const file = `made-${++files}.txt`;
    return { tool, input: { command: `touch ${file}`, description: "Makes a file" }, file };
  };

  describe(`a tool that a skill lists, with ${label}`, () => {
    test("reaches the person as the agent wrote it, each time, whatever they approved", async () => {
      const { playground, model, editor, sessionId } = await open(agent);
      await writeTool(playground, "deployer", "Bash(touch:*)", "First.");
      await listed(editor, sessionId, "deployer");
      for (const [answer, isMade] of [
        ["allow_once", true],
        ["reject_once", false],
      ] as const) {
        const call = touch();
        editor.answerWith(answer);
        model.plan([call]);
        await editor.prompt(sessionId, "/deployer now");
        expect(titles(editor).at(-1)).toBe(`touch ${call.file}`);
        expect(existsSync(join(playground.project, call.file))).toBe(isMade);
      }
    });

    test("skills of a project are read and run after one question each, not again in another process, and with a diff once changed", async () => {
      const { playground, model, editor, sessionId } = await open(agent);
      const skills = join(playground.project, ".agents", "skills");
      await writeRunningSkills(skills, { statusUrl: `${model.url}/v1/models` });
      await listed(editor, sessionId, "status-fetch");
      const calls = [
        { tool: "read_skill_file", input: { name: "status.fetch", path: "SKILL.md" } },
        { tool: "execute_skill", input: { name: "status.fetch" } },
      ];
      const isOurs = (title: unknown): boolean => /: run status\.fetch 1|^Let the model read/.test(String(title));
      const ours = (of: Editor): readonly unknown[] => titles(of).filter(isOurs);
      editor.answerWith("allow_always", ({ toolCall }) => isOurs(toolCall.title));
      model.plan([...calls, ...calls]);
      await editor.prompt(sessionId, "Read and run it twice.");
      expect(ours(editor)).toEqual([
        expect.stringContaining("Let the model read the instructions of status.fetch"),
        expect.stringMatching(/^Host .*: run status\.fetch 1\.0\.0 \([0-9a-f]{12}, from this project\)/),
      ]);
      expect(model.results.every((result) => !result.includes("PERMISSION_DENIED"))).toBe(true);

      const again = await openEditor(agent, playground, { modelUrl: model.url });
      onTestFinished(async () => {
        await again.close();
      });
      const second = await again.openSession();
      await listed(again, second, "status-fetch");
      model.plan(calls);
      await again.prompt(second, "Read and run it.");
      expect(ours(again)).toEqual([]);
      expect(model.results.join()).not.toContain("PERMISSION_DENIED");
      await appendFile(join(skills, "status.fetch", "main.py"), "# More.\n");
      model.plan(calls.slice(1));
      again.answerWith("reject_once", ({ toolCall }) => isOurs(toolCall.title));
      await again.prompt(second, "Run it changed.");
      expect(ours(again)).toEqual([expect.stringContaining("changed since 1.0.0")]);
      const asked = again.requests.find(({ toolCall }) => isOurs(toolCall.title));
      expect(asked?.toolCall.content?.find(({ type }) => type === "diff")).toMatchObject({
        newText: expect.stringContaining("# More.") as string,
      });
    });

    test("200 calls over 20 skills ask nothing", async () => {
      const { playground, model, editor, sessionId } = await open(agent);
      const names = Array.from({ length: 20 }, (_, place) => `skill-${place}`);
      for (const name of names) await writeTool(playground, name, "Bash(touch:*) Read", "Do it.");
      await listed(editor, sessionId, "skill-19");
      let calls = 0;
      for (const name of names) {
        const read = { tool: "read_skill_file", input: { name, path: "SKILL.md" } };
        const describe = { tool: "describe_skill", input: { name, detail: "full" } };
        model.plan([read, describe, ...Array.from({ length: 8 }, () => read)]);
        await editor.prompt(sessionId, `Work with ${name}.`);
        calls += model.results.length;
      }
      expect(calls).toBe(200);
      expect(titles(editor)).toEqual([]);
    });
  });
}

interface Opened {
  readonly playground: Playground;
  readonly model: MockModel;
  readonly editor: Editor;
  readonly sessionId: string;
}

async function open(agent: RealAgent): Promise<Opened> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  const editor = await openEditor(agent, playground, { modelUrl: model.url });
  onTestFinished(async () => {
    await editor.close();
  });
  return { playground, model, editor, sessionId: await editor.openSession() };
}

async function writeTool({ explicitSkills }: Playground, name: string, tools: string, text: string): Promise<void> {
  await mkdir(join(explicitSkills, name), { recursive: true });
  const fields = [`name: ${name}`, `description: Does ${name}.`, ...(tools === "" ? [] : [`allowed-tools: ${tools}`])];
  await writeFile(join(explicitSkills, name, "SKILL.md"), `---\n${fields.join("\n")}\n---\n\n${text}\n`);
}

async function listed(editor: Editor, sessionId: string, name: string): Promise<void> {
  await editor.until(`the command /${name}`, () =>
    editor.commands(sessionId).some((command) => command.name.replaceAll(".", "-") === name),
  );
}

function titles(editor: Editor): readonly unknown[] {
  return editor.requests.map(({ toolCall }) => toolCall.title);
}
