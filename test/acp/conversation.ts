import { onTestFinished } from "vitest";
import type { AgentTools } from "../../src/acp/service/tools/agent-tools.ts";
import { type Verdict, amendValue } from "../../src/acp/messages/amend.ts";
import { openLocalService } from "../../src/acp/service/local-service.ts";
import { Interceptor } from "../../src/acp/relay/interceptor.ts";
import { type AnnouncedForm, type SkillsOptions, type ToolForm, readOptions } from "../../src/runtime/options.ts";
import type { SkillEnvironments } from "../../src/skills/environment.ts";
import type { Skill } from "../../src/skills/skill.ts";
import { type ManualClock, manualClock } from "../manual-clock.ts";
import { type MemorySkillset, memorySkillset, offer } from "./memory-skillset.ts";
import type { Instructions } from "../../src/acp/skill-service.ts";

export interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** An editor and an agent in a test, with the interceptor between them. */
export interface Conversation {
  readonly interceptor: Interceptor;
  readonly skillset: MemorySkillset;
  readonly clock: ManualClock;
  /** All that reached the editor, in order. */
  readonly atEditor: Message[];
  /** All that reached the agent, in order. */
  readonly atAgent: Message[];
  readonly logged: string[];
  readonly editor: (message: Message) => Promise<void>;
  readonly agent: (message: Message) => void;
  /** Stops reading at the editor until the returned function is called. */
  readonly stopReading: () => () => void;
  /** Sends a request and its response. */
  readonly exchange: (method: string, params: unknown, result: unknown) => Promise<void>;
  /** Lets 50 ms pass, after which the skills of a new session are sent. */
  readonly settle: () => Promise<void>;
  /** Returns the updates of one kind that reached the editor, and clears the list. */
  readonly take: (kind?: string) => Record<string, unknown>[];
}

export function converse(
  options: {
    readonly announce?: AnnouncedForm;
    readonly skillset?: MemorySkillset;
    readonly readInstructions?: (skill: Skill) => Promise<Instructions>;
    /** If not given, no tools are served. */
    readonly tools?: AgentTools;
    readonly environments?: SkillEnvironments;
  } & Pick<SkillsOptions, "instructModel" | "answerPermissions" | "policy"> & { readonly toolForm?: ToolForm } = {},
): Conversation {
  const skillset = options.skillset ?? memorySkillset([offer("pdf"), offer("csv")]);
  const clock = manualClock();
  const atEditor: Message[] = [];
  const atAgent: Message[] = [];
  const logged: string[] = [];
  let lastId = 0;
  const settings = readOptions(
    {
      announce: options.announce ?? "auto",
      tools: options.tools === undefined ? "none" : (options.toolForm ?? "auto"),
      instructModel: options.instructModel ?? true,
      ...(options.policy !== undefined && { policy: options.policy }),
      answerPermissions: options.answerPermissions ?? true,
      log: (level: string, text: string) => logged.push(`${level}: ${text}`),
    },
    { clock, version: "9.9.9" },
  );
  const service = openLocalService(settings, {
    skillset,
    tools: options.tools,
    ...(options.environments && { environments: options.environments }),
    readInstructions:
      options.readInstructions ??
      (() => Promise.resolve({ body: "Do it well.", truncated: false, files: [], moreFiles: false, changedAt: 0 })),
    now: () => 1,
  });
  onTestFinished(() => service.close());
  let unread: (() => void)[] | undefined;
  const interceptor = new Interceptor({
    service,
    settings,
    send(line, written) {
      atEditor.push(JSON.parse(Buffer.from(line).toString()) as Message);
      if (unread === undefined) written();
      else unread.push(written);
    },
    reply: (message) => atAgent.push(message),
  });
  const pass = (message: Message, verdict: Verdict, to: Message[]): void => {
    if (verdict.forward) to.push(amendValue(message, verdict.amendments ?? []) as Message);
  };

  const conversation: Conversation = {
    interceptor,
    skillset,
    clock,
    atEditor,
    atAgent,
    logged,
    async editor(message) {
      pass(message, await interceptor.fromEditor(message), atAgent);
    },
    agent(message) {
      const verdict = interceptor.fromAgent(message);
      if (verdict instanceof Promise) throw new Error("The service of a test answers at once.");
      pass(message, verdict, atEditor);
    },
    stopReading() {
      const waiting: (() => void)[] = [];
      unread = waiting;
      return () => {
        unread = undefined;
        for (const written of waiting) written();
      };
    },
    async exchange(method, params, result) {
      const id = ++lastId;
      await conversation.editor({ id, method, params });
      conversation.agent({ id, result });
    },
    async settle() {
      await Promise.resolve();
      clock.pass(50);
      await Promise.resolve();
    },
    take(kind) {
      const updates = atEditor.splice(0).flatMap(({ method, params }) => {
        const { update } = (params ?? {}) as { update?: Record<string, unknown> };
        return method === "session/update" && update !== undefined ? [update] : [];
      });
      return updates.filter((update) => kind === undefined || update["sessionUpdate"] === kind);
    },
  };
  return conversation;
}

/** The capabilities of each kind of client. */
export const clients = {
  plain: {},
  optedIn: { _meta: { "acp-skills": { commands: true } } },
  /** Of ACP v2. */
  skillEntries: { session: { commands: { skill: {} } } },
  jetbrains: { _meta: { jetbrains: { air: {} } } },
  notices: { session: { notices: {} } },
} as const;

/** A conversation in ACP v1 in which session `s` was just opened. */
export async function converseInSession(
  clientCapabilities: unknown = {},
  options: Parameters<typeof converse>[0] = {},
  agentCapabilities: unknown = {},
): Promise<Conversation> {
  const conversation = converse(options);
  await conversation.exchange(
    "initialize",
    { protocolVersion: 1, clientCapabilities },
    { protocolVersion: 1, agentCapabilities },
  );
  await conversation.exchange("session/new", { cwd: "/project", mcpServers: [] }, { sessionId: "s" });
  return conversation;
}

export function listCommands(...names: string[]): Message {
  const availableCommands = names.map((name) => ({ name, description: `The agent's ${name}.` }));
  const update = { sessionUpdate: "available_commands_update", availableCommands };
  return { method: "session/update", params: { sessionId: "s", update } };
}

export function prompt(...blocks: (string | object)[]): Message {
  const content = blocks.map((block) => (typeof block === "string" ? { type: "text", text: block } : block));
  return { id: 1000, method: "session/prompt", params: { sessionId: "s", prompt: content } };
}
