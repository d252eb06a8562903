import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { install, modernNode } from "./install.ts";
import { makePlayground, writeSkill } from "./playground.ts";
import { wrapper } from "./wrapped-process.ts";

const echoAgent = fileURLToPath(new URL("../../examples/echo-agent.js", import.meta.url));
const skill = { name: "outside-the-project", description: "Rhymes.", instructions: "RHYME: answer in rhyme." };

/** One line of acpx's JSON output: a message between it and its agent. */
interface Line {
  readonly method?: string;
  readonly params?: { update?: { sessionUpdate: string; availableCommands?: object[]; content?: { text?: string } } };
  readonly result?: { stopReason?: string };
}

/** Runs one prompt through acpx, which sends it as soon as it has a session, and returns all messages. */
async function promptWithAcpx(text: string): Promise<Line[]> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  await writeSkill(playground.explicitSkills, skill);
  const agent = [process.execPath, wrapper, "--skills", playground.explicitSkills, "--", process.execPath, echoAgent];
  const { stdout } = await promisify(execFile)(
    await modernNode(),
    [
      join(await install("acpx"), "acpx/dist/cli.js"),
      ...["--cwd", playground.project, "--agent", agent.map((word) => JSON.stringify(word)).join(" ")],
      ...["--format", "json", "--json-strict", "exec", text],
    ],
    { env: { PATH: process.env["PATH"], HOME: playground.home } },
  );
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}

function said(lines: readonly Line[]): string {
  return lines.map(({ params }) => params?.update?.content?.text ?? "").join("");
}

test("acpx, which prompts immediately after session/new, gets the skills and can invoke one", async () => {
  const lines = await promptWithAcpx(`/${skill.name} about parsers`);
  const lists = lines.flatMap(({ params }) => params?.update?.availableCommands ?? []);
  expect(lists).toContainEqual(expect.objectContaining({ name: skill.name, description: skill.description }));
  expect(said(lines)).toContain(skill.instructions);
  expect(said(lines)).toContain(`text: Use the skill "${skill.name}": about parsers`);
  expect(lines.at(-1)?.result?.stopReason).toBe("end_turn");
});

test("forwards a plain prompt of acpx unchanged, followed by the lesson", async () => {
  const [words, lesson, ...more] = said(await promptWithAcpx("hello /outside-the-project")).split(/^(?=text: $)/m);
  expect(words).toBe("text: hello /outside-the-project\n");
  expect(lesson).toMatch(/^- outside-the-project.*: "Rhymes\."$/m);
  expect(more).toEqual([]);
});
