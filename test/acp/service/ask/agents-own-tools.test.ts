import { afterEach, expect, test } from "vitest";
import { useTemporaryProject } from "../../../cli/temporary-project.ts";
import { bash, startAskingAgent } from "./asking-agent.ts";

const project = useTemporaryProject();
const open: Awaited<ReturnType<typeof startAskingAgent>>[] = [];
afterEach(async () => {
  for (const agent of open.splice(0)) await agent.close();
});

const ofAgent = ["always", "once", "no"];

test.each(["claude", "opencode"])(
  "every request of %s for its own tools reaches the person as the agent wrote it, whatever an approved skill lists",
  async (name) => {
    const tools = ["Bash(git status)", "Bash(git:*)", "Bash(npm test)", "Bash(touch:*)", "Read", "Write(src/**)"];
    const lines = ["name: deploy", "description: Deploys.", `allowed-tools: ${tools.join(" ")}`];
    project.write("home/deploy/SKILL.md", `---\n${lines.join("\n")}\n---\n\nDo it.\n`);
    const agent = await startAskingAgent(project.directory, { args: ["--skills", project.at("home")], name });
    open.push(agent);
    const commands = ["git status", "npm test", "touch src/a", "git log | sh"];
    const read = `tool read_skill_file {"name":"deploy","path":"SKILL.md"}`;
    for (const [answer, outcome] of [
      ["allow_always", "always"],
      ["reject_once", "no"],
    ] as const) {
      agent.answer(() => answer);
      const before = agent.asked.length;
      const said = await agent.prompt(
        `/deploy now; ${read}; ${commands.map((command) => bash(command, name === "claude" ? {} : { name: undefined })).join("; ")}`,
      );
      const chosen = [...said.matchAll(/"optionId":"(\w+)"/g)].map(([, option]) => option);
      expect(chosen).toEqual(commands.map(() => outcome));
      const asked = agent.asked.slice(before);
      expect(asked.map(({ toolCall }) => toolCall)).toMatchObject(
        commands.map((command) => ({ title: command, rawInput: { command }, content: [] })),
      );
      for (const { options } of asked) expect(options.map(({ optionId }) => optionId)).toEqual(ofAgent);
    }
    expect(JSON.stringify(agent.received)).not.toContain('"allowed"');
  },
);
