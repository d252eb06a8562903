import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { makePlayground, type Playground, writeSkill } from "../agents/playground.ts";
import { descendantsOf } from "../agents/process-tree.ts";
import { repository, runInDebian } from "./debian.ts";

/** The command line of the scripted agent, as the person has configured it. */
export const agentCommand: readonly string[] = ["node", join(repository, "test/agent/scripted-agent.js"), "http"];
/** The same in Lua, for plugins that start it with PATH alone. */
export const luaProvider: string = `(function()
  local words = vim.json.decode([==[${JSON.stringify(agentCommand)}]==])
  local env = { HOME = vim.env.HOME, TMPDIR = vim.env.TMPDIR }
  return { command = table.remove(words, 1), args = words, env = env }
end)()`;
export const wrapper = join(repository, "dist/cli/main.js");

/** A prompt by which the scripted agent calls one of our tools. */
function callOf(tool: string, input: object): string {
  return `call ${tool} ${JSON.stringify(input)}`;
}

/** Runs the script of the skill: it prints a line, and another one after a while. */
export const runGreeting: string = callOf("execute_skill", {
  name: "hello-skill",
  script: "scripts/greet.py",
  args: { argv: ["Ada"] },
});

/** Makes the agent's model read the skill, which came with the project: the person is asked. */
export const readGreeting: string = callOf("read_skill_file", { name: "hello-skill", path: "SKILL.md" });
/** The question that it leads to. */
export const readQuestion =
  "Let the model read the instructions of hello-skill and the other skills that came with this project";

/** Lets so much time pass that what is typed next counts as the answer of a person, who has read the question. */
export function read(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000));
}

/** A home and a project with one skill, `hello-skill`; removed when the test ends. */
export async function prepareProject(): Promise<Playground> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  await describeSkill(playground, "Greets a person.");
  const scripts = join(playground.project, ".agents/skills/hello-skill/scripts");
  await mkdir(scripts, { recursive: true });
  await writeFile(
    join(scripts, "greet.py"),
    `import sys, time
print("greeting", *sys.argv[1:], flush=True)
# What was printed has the time to be shown on its own.
time.sleep(2)
print("greeted")
`,
  );
  return playground;
}

/** Writes or overwrites the `SKILL.md` of `hello-skill`. */
export async function describeSkill({ project }: Playground, description: string): Promise<void> {
  const skills = join(project, ".agents/skills");
  await writeSkill(skills, { name: "hello-skill", description, instructions: "Greet them warmly." });
}

/** `acp-skills setup EDITOR --write`, as the person runs it. */
export async function setUp(playground: Playground, editor: string): Promise<void> {
  const said = await runInDebian(playground, ["node", wrapper, "setup", editor, "--write"]);
  expect(said).toContain("is started through acp-skills");
}

/** Kills the wrapper that an editor has started. */
export async function killWrapper(editor: number | undefined): Promise<void> {
  const found = (await descendantsOf(editor)).filter(({ command }) => command.includes(`${wrapper} --`));
  expect(found).not.toEqual([]);
  for (const { id } of found) process.kill(id, "SIGKILL");
}
