import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { type MockModel, openMockModel } from "./mock-model.ts";
import { type Editor, openEditor } from "./open-editor.ts";
import { makePlayground, type Playground } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";
import { writeRunningSkills } from "./running-skills.ts";
import { wrapper } from "./wrapped-process.ts";

/** The tests of an agent's own tools, which an approved skill lists in `allowed-tools`. */
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
    test("is asked about once, again after the skill changed or was revoked, and never answered otherwise", async () => {
      const { playground, model, editor, sessionId } = await open(agent);
      const run = async (words: string, calls: readonly ReturnType<typeof touch>[]): Promise<readonly boolean[]> => {
        model.plan(calls);
        await editor.prompt(sessionId, words);
        return calls.map(({ file }) => existsSync(join(playground.project, file)));
      };
      await writeTool(playground, "deployer", "Bash(touch:*)", "First.");
      await listed(editor, sessionId, "deployer");
      editor.answerWith("allow_always");
      expect(await run("/deployer now", [touch(), touch(), touch()])).toEqual([true, true, true]);
      expect(titles(editor)).toEqual([
        expect.stringMatching(/^Agent tools \(.*: for deployer 0\.0\.0 \(.*; now: Bash\(touch made-1\.txt\)$/),
      ]);
      expect(editor.requests[0]?.options.map(({ name }) => name)).toEqual([
        ...["Run once", "Trust this exact version", "Not now", "Block this skill"],
      ]);
      expect(await run("/deployer again", [touch()])).toEqual([true]);
      expect(editor.requests).toHaveLength(1);

      editor.answerWith("reject_once");
      expect(await run("Without the skill", [touch()])).toEqual([false]);
      expect(titles(editor).at(-1)).toBe(`touch made-${files}.txt`);

      await writeTool(playground, "deployer", "Bash(touch:*)", "Second.");
      expect(await run("/deployer changed", [touch()])).toEqual([false]);
      expect(titles(editor).at(-1)).toContain("changed since 0.0.0");
      const diff = editor.requests.at(-1)?.toolCall.content?.find(({ type }) => type === "diff");
      expect(diff).toMatchObject({ oldText: expect.stringContaining("First.") as string });
      expect(diff).toMatchObject({ newText: expect.stringContaining("Second.") as string });

      editor.answerWith("allow_always");
      expect(await run("/deployer approved", [touch(), touch()])).toEqual([true, true]);
      const asked = editor.requests.length;
      await promisify(execFile)(process.execPath, [wrapper, "approvals", "revoke", "deployer"], {
        cwd: playground.project,
        env: { PATH: process.env["PATH"], HOME: playground.home },
      });
      expect(await run("/deployer revoked", [touch()])).toEqual([true]);
      expect(editor.requests).toHaveLength(asked + 1);
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

    test("200 calls over 20 skills ask at most 3 times", async () => {
      const { playground, model, editor, sessionId } = await open(agent);
      const names = Array.from({ length: 20 }, (_, place) => `skill-${place}`);
      for (const [place, name] of names.entries())
        await writeTool(playground, name, place < 3 ? "Bash(touch:*) Read" : "", "Do it.");
      await listed(editor, sessionId, "skill-19");
      editor.answerWith("allow_always");
      let calls = 0;
      for (const [place, name] of names.entries()) {
        const read = { tool: "read_skill_file", input: { name, path: "SKILL.md" } };
        const describe = { tool: "describe_skill", input: { name, detail: "full" } };
        const others = place < 3 ? Array.from({ length: 8 }, touch) : Array.from({ length: 8 }, () => read);
        model.plan([read, describe, ...others]);
        await editor.prompt(sessionId, `Work with ${name}.`);
        calls += model.results.length;
      }
      expect(calls).toBe(200);
      expect(files).toBeGreaterThanOrEqual(24);
      expect(existsSync(join(playground.project, `made-${files}.txt`))).toBe(true);
      expect(titles(editor)).toHaveLength(3);
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
