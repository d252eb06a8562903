import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import type { AnswerOption } from "../../src/runtime/question.ts";
import { afterReading, choose } from "../acp/permission-answers.ts";
import { wrapAgentCommand } from "../../src/acp/wrap-command.ts";

const script = fileURLToPath(new URL("../agent/scripted-agent.js", import.meta.url));
const skill = fileURLToPath(new URL("../../examples/skills/commit-message", import.meta.url));

/** An editor connected to the wrapped scripted agent, in a project with one skill, with a trace of every message. */
export interface TracedConversation {
  readonly project: string;
  /** One line per message: `>` from the editor, `<` to the editor. */
  readonly trace: string[];
  readonly ask: (method: string, params: object) => Promise<void>;
  /** Resolves with the next message to the editor for which this is true. */
  readonly until: (holds: (line: string) => boolean) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** `skills`: the SKILL.md of more skills, by name. `files`: of the project. `choice`: what the user chooses when asked. */
export function openTracedConversation(
  manner: readonly string[] = [],
  skills: Readonly<Record<string, string>> = {},
  { files = {}, choice }: { files?: Readonly<Record<string, string>>; choice?: AnswerOption["kind"] } = {},
): TracedConversation {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "acp-skills-flow-")));
  mkdirSync(join(project, ".agents", "skills"), { recursive: true });
  cpSync(skill, join(project, ".agents", "skills", "commit-message"), { recursive: true });
  for (const [name, text] of Object.entries(skills)) {
    mkdirSync(join(project, ".agents", "skills", name));
    writeFileSync(join(project, ".agents", "skills", name, "SKILL.md"), text);
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  const input = new PassThrough();
  const output = new PassThrough();
  const trace: string[] = [];
  const waiting = new Set<{ readonly holds: (line: string) => boolean; readonly resolve: () => void }>();
  let rest = "";
  output.on("data", (bytes: Buffer) => {
    const lines = (rest + bytes.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      trace.push(`< ${summarise(line, project)}`);
      const response = choice && choose(JSON.parse(line) as object, choice);
      if (response !== undefined)
        afterReading(() => {
          trace.push(`> ${summarise(JSON.stringify(response), project)}`);
          input.write(`${JSON.stringify(response)}\n`);
        });
      for (const one of waiting) {
        if (!one.holds(line)) continue;
        waiting.delete(one);
        one.resolve();
      }
    }
  });
  const ended = wrapAgentCommand(
    {
      command: process.execPath,
      args: [script, ...manner],
      input,
      output,
      options: { dataDirectory: join(project, "data"), log: (level, text) => trace.push(`! ${level}: ${text}`) },
    },
    { home: join(project, "home"), version: "0.0.0" },
  );
  let lastId = 0;

  const until = (holds: (line: string) => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiting.add({ holds, resolve });
    });
  return {
    project,
    trace,
    until,
    async ask(method, params) {
      const id = ++lastId;
      const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
      trace.push(`> ${summarise(line, project)}`);
      const answered = until((answer) => answer.includes(`"id":${id},`));
      input.write(`${line}\n`);
      await answered;
    },
    async close() {
      input.end();
      await ended;
      rmSync(project, { recursive: true });
    },
  };
}

/** A message with normalised paths and marks, and with long lists reduced to names. */
function summarise(line: string, project: string): string {
  const plain = line
    .replaceAll(project, "/project")
    .replace(/(index=[\\"]+)[0-9a-f]+/g, "$1mark")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "uuid")
    .replace(/sha256:[0-9a-f]{64}/g, "sha256:digest")
    .replace(/run_[0-9a-z]{10,}/g, "run_id")
    .replace(/(isolation[\\]*":[\\]*")[a-z-]+/g, "$1tier")
    .replace(/(duration_ms[\\]*":)[0-9.]+/g, "$10");
  const message = JSON.parse(plain, (key: string, value: unknown) => {
    if (key === "jsonrpc" || key === "description" || key === "input") return undefined;
    if (key === "availableSkills") return (value as { name: string }[]).map(({ name }) => name).join(" ");
    return value;
  }) as object;
  return JSON.stringify(message);
}
