import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import { factsOf, spell } from "../../src/acp/negotiation/agents.ts";
import { delegationOf } from "./delegate.ts";
import { type PlannedCall, openMockModel } from "./mock-model.ts";
import { type Editor, openEditor } from "./open-editor.ts";
import { type Playground, makePlayground, writeSkill } from "./playground.ts";
import type { RealAgent } from "./real-agents.ts";
import { writeRunningSkills } from "./running-skills.ts";

/** How the sessions of a day begin, in order; each in a process of the wrapper and of the agent of its own. */
const ways = ["new", "load", "resume", "fork", "load"] as const;

const turns = 4;
const plainSkills = Array.from({ length: 16 }, (_, index) => `plain-${index}`);

/** What a person sees in a day. */
interface Day {
  /** The titles of all questions, with how the session began. */
  readonly questions: readonly string[];
  readonly calls: number;
  /** How many of them a subagent made. */
  readonly delegated: number;
}

/**
 * A day of an agent: 200 calls of our tools, of which subagents make a quarter where the agent announces them, 20 skills, sessions that are
 * opened, loaded, resumed and forked, as far as the agent can, and a person who answers for good where that is offered.
 */
export async function spendDay(agent: RealAgent): Promise<Day> {
  const playground = await makePlayground();
  onTestFinished(playground.remove);
  const model = await openMockModel();
  onTestFinished(model.close);
  await writeRunningSkills(playground.explicitSkills, { statusUrl: `${model.url}/v1/models` });
  await writePlainSkills(playground);
  const questions: string[] = [];
  let calls = 0;
  let delegated = 0;
  let sessionId: string | undefined;
  for (const way of ways) {
    const editor = await openEditor(agent, playground, { modelUrl: model.url, capabilities: { subagents: {} } });
    try {
      editor.answerWith("allow_always", ({ options }) => options.some(({ kind }) => kind === "allow_always"));
      sessionId =
        (await openBy(way, { agent, editor, cwd: playground.project, sessionId })) ?? (await editor.openSession());
      // Some agents connect to servers during their first turn.
      await editor.prompt(sessionId, "Hello.");
      for (let turn = 0; turn < turns; turn++) {
        const planned = callsOfTurn(calls).map((call) => defer(agent, call));
        const task = `SUBTASK ${calls}.`;
        const delegation = turn === turns - 1 ? delegationOf(agent, task) : undefined;
        model.plan(delegation ?? planned);
        if (delegation !== undefined) model.planAbout(task, planned);
        await editor.prompt(sessionId, "Do all of it.");
        const expected = planned.length + (delegation?.length ?? 0);
        await editor.until("the results of all calls", () => model.results.length === expected);
        if (delegation !== undefined) delegated += planned.length;
        calls += planned.length;
      }
      questions.push(...editor.permissions.map(({ title }) => `${way}: ${title ?? ""}`));
    } finally {
      await editor.close();
    }
  }
  return { questions, calls, delegated };
}

async function writePlainSkills({ explicitSkills }: Playground): Promise<void> {
  for (const name of plainSkills) {
    await writeSkill(explicitSkills, { name, description: `Does ${name}.`, instructions: "Run run.py." });
    await mkdir(join(explicitSkills, name, "scripts"));
    await writeFile(join(explicitSkills, name, "scripts/run.py"), "print('ran')\n");
  }
}

interface Opening {
  readonly agent: RealAgent;
  readonly editor: Editor;
  readonly cwd: string;
  /** The session before. */
  readonly sessionId: string | undefined;
}

/** The session that was opened; undefined if the agent does not offer this way. */
async function openBy(
  way: (typeof ways)[number],
  { agent, editor, cwd, sessionId }: Opening,
): Promise<string | undefined> {
  if (way === "new" || sessionId === undefined) return undefined;
  const capabilities = editor.initialized.agentCapabilities?.sessionCapabilities ?? {};
  const known = { cwd, mcpServers: [], sessionId };
  if (way === "resume") {
    if (!capabilities.resume) return undefined;
    await editor.agent.request(methods.agent.session.resume, known);
    return sessionId;
  }
  // Not in the stable protocol.
  if (way === "fork" && (agent.forksWithoutServers || !("fork" in capabilities))) return undefined;
  const loaded = await editor.agent.request(methods.agent.session.load, known).then(
    () => true,
    () => false,
  );
  // Gemini CLI loads a session only once.
  if (!loaded) return undefined;
  if (way === "load") return sessionId;
  return (await editor.agent.request<{ sessionId: string }>("session/fork", known)).sessionId;
}

/** The same call as agents that hide our tools from their model until they are searched for want it. */
function defer({ name }: RealAgent, { tool, input }: PlannedCall): PlannedCall {
  const { deferral, tools } = factsOf(name);
  if (deferral === undefined || tools === undefined) return { tool, input };
  const called = spell(tools.forModel, "skills", tool);
  return {
    tool: deferral.call,
    input: (results) => ({ name: called, arguments: typeof input === "function" ? input(results) : input }),
  };
}

/** Ten calls, of every tool and of each skill in turn. */
function callsOfTurn(done: number): readonly PlannedCall[] {
  const skill = (index: number): string => plainSkills[((done / 10) * 3 + index) % plainSkills.length] ?? "";
  const run = { script: "scripts/run.py", args: { argv: [] } };
  return [
    { tool: "list_skills", input: {} },
    { tool: "describe_skill", input: { name: skill(0), detail: "full" } },
    { tool: "read_skill_file", input: { name: skill(1), path: "SKILL.md" } },
    { tool: "execute_skill", input: { name: skill(0), ...run } },
    { tool: "execute_skill", input: { name: skill(1), ...run } },
    { tool: "execute_skill", input: { name: skill(2), ...run } },
    { tool: "create_blob", input: { content: `row ${done}`, kind: "text/csv" } },
    {
      tool: "read_blob",
      input: (results) => ({ blob_id: /blob:\w+/.exec(results.at(-1) ?? "")?.[0] ?? "", mode: "full" }),
    },
    { tool: "run_code", input: { language: "python", code: `def main():\n    return ${done}\n` } },
    done % 40 === 0
      ? { tool: "execute_skill", input: { name: "status.fetch" } }
      : { tool: "load_skills_protocol_guide", input: {} },
  ];
}
