/**
 * What is known about agents: one row per agent. Each fact was observed by running the named version against a mock model
 * (`npm run test:agents`): what reached the model and the editor, and what the agent's files and answers did; or read in its source, where
 * the row says so.
 */

/** How the tools of an MCP server are named; `{server}` is the server's name, `{word}` that name with only word characters. */
export type Spelling = string;

/** Plain data: it crosses to the thread of the service. */
export interface AgentFacts {
  /** Its usual name. */
  readonly label: string;
  /** How it names MCP tools; undefined if unknown. */
  readonly tools: { readonly forModel: Spelling; readonly forEditor: readonly Spelling[] } | undefined;
  /** Its model gets the tools of MCP servers. */
  readonly hasMcpTools: boolean;
  /** It hides MCP tools from its model until they are searched for; the tools that find and call them. */
  readonly deferral: { readonly search: string; readonly call: string } | undefined;
  /** The text of resources in a prompt reaches its model behind the words, with all other blocks, and it shows no address of ours for them. */
  readonly passesResources: boolean;
  /** Skill directories that it reads itself, in a project and in the home directory. */
  readonly reads: { readonly project: readonly string[]; readonly home: readonly string[] } | undefined;
  /** It lists the skills that it has read as commands. */
  readonly listsSkills: boolean;
  /** It lists commands after each session has been opened, so that our list can wait for its list. */
  readonly listsCommands: boolean;
  /** Other users of the machine can read its configuration. */
  readonly leaksConfiguration: boolean;
  /** Its editor first hears of a call when it is asked for permission. */
  readonly asksFirst: boolean;
  /** Texts that it adds to a permission request for a tool of ours; `{tool}` is the tool as its model knows it. */
  readonly adds: readonly Spelling[];
  /** Its option that allows one call and does nothing else, where it offers several. */
  readonly allowsOnce: string | undefined;
  /** The content of a call that is running is what its model has written of the input so far. */
  readonly streamsInput: boolean;
  /** Whether it asks the editor before a tool runs code, by default; undefined if unknown. */
  readonly asksBeforeCode: boolean | undefined;
}

const doubleUnderscore: Spelling = "mcp__{word}__{tool}";
const singleUnderscore: Spelling = "mcp_{word}_{tool}";
const underscore: Spelling = "{word}_{tool}";
const hyphen: Spelling = "{word}-{tool}";
const dotted: Spelling = "mcp.{server}.{tool}";
const toolFirst: Spelling = "{tool}_{word}";
const suffixed: Spelling = "{tool} ({server} MCP Server)";

/** The spellings that are tried for an unknown agent. */
export const usualSpellings: readonly Spelling[] = [
  doubleUnderscore,
  underscore,
  hyphen,
  dotted,
  singleUnderscore,
  suffixed,
  toolFirst,
];

/** Spells the name of a server's tool. */
export function spell(spelling: Spelling, server: string, tool: string): string {
  return spelling.replace("{word}", toWord(server)).replace("{server}", server).replace("{tool}", tool);
}

/** A server's name as agents spell it in tool names. */
export function toWord(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

/** The facts of an unknown agent: as little as possible is assumed. */
const unknownAgent: AgentFacts = {
  label: "",
  tools: undefined,
  hasMcpTools: true,
  deferral: undefined,
  passesResources: true,
  reads: undefined,
  listsSkills: true,
  listsCommands: false,
  leaksConfiguration: false,
  asksFirst: false,
  adds: [],
  allowsOnce: undefined,
  streamsInput: false,
  asksBeforeCode: undefined,
};

/** How qwen says that the model that decides in its mode "auto" gave no answer, and why. */
function notClassified(reason: string): Spelling {
  return `Auto Mode couldn't classify this action (${reason}). Review it manually. Switching to Default Mode is recommended if you want to continue without the classifier.`;
}

const agents = [".agents/skills"];
const claude = [".claude/skills"];

/** By the name that an agent gives in its response to `initialize`. All of them list commands. */
const rows: readonly (Partial<AgentFacts> & { readonly agent: RegExp; readonly label: string })[] = [
  {
    // 0.100.0: tool_call has `name` and `_meta.claudeCode.toolName`; only skills of .claude are in the system prompt; `ps` shows mcpServers.
    agent: /\bclaude\b/i,
    label: "Claude",
    tools: { forModel: doubleUnderscore, forEditor: [doubleUnderscore] },
    reads: { project: claude, home: claude },
    leaksConfiguration: true,
    asksBeforeCode: true,
  },
  {
    // 1.18.33: titles are tool names, the input follows the permission request; .agents comes before .claude; skills are read once.
    agent: /^opencode$/i,
    label: "opencode",
    tools: { forModel: underscore, forEditor: [underscore] },
    reads: { project: [...agents, ...claude], home: [...agents, ...claude] },
    asksBeforeCode: false,
  },
  {
    // 7.7.9: made of opencode; a permission request comes before the call is reported, with the input as {mcpInput}.
    agent: /^kilo$/i,
    label: "Kilo",
    tools: { forModel: underscore, forEditor: [underscore] },
    asksBeforeCode: false,
  },
  {
    // 0.36.0, read in its source: titles are tool names, or the summary, description or title in the input, which no tool of ours has.
    agent: /^auggie$/i,
    label: "auggie",
    tools: { forModel: toolFirst, forEditor: [toolFirst] },
    asksBeforeCode: false,
  },
  {
    // 2.6.0: title `mcp.skills.run_code`, rawInput {server, tool, arguments}; a permission request has only the id; in mode "agent"
    // another model decides, else the editor is asked; skills are listed as `$name` and read when used.
    agent: /^@agentclientprotocol\/codex-acp$/,
    label: "Codex",
    tools: { forModel: doubleUnderscore, forEditor: [dotted, doubleUnderscore] },
    reads: { project: agents, home: agents },
    asksBeforeCode: false,
  },
  {
    // 0.16.0: replays show a resource as its address.
    agent: /^codex-acp$/,
    label: "codex-acp",
    passesResources: false,
  },
  {
    // 0.61.0: the permission request is the first message about a call, its input is text; skills are in the system prompt, not commands;
    // images beside a resource are dropped.
    agent: /^gemini-cli$/,
    label: "Gemini CLI",
    tools: { forModel: singleUnderscore, forEditor: [suffixed, singleUnderscore] },
    passesResources: false,
    reads: { project: agents, home: agents },
    listsSkills: false,
    asksFirst: true,
    asksBeforeCode: true,
  },
  {
    // 0.24.4: MCP tools are found by tool_search and called by tool_call; titles are the input; _meta.toolName is the tool. In its mode
    // "auto" another model decides; if that one gives no answer, the editor is asked, with an option that also changes the mode. Resources
    // are put before the words.
    agent: /^qwen-code$/,
    label: "qwen-code",
    tools: { forModel: doubleUnderscore, forEditor: [doubleUnderscore] },
    deferral: { search: "tool_search", call: "tool_call" },
    passesResources: false,
    reads: { project: agents, home: agents },
    adds: [
      notClassified("Classifier stage 1 unavailable"),
      notClassified("Conversation transcript exceeds classifier context window"),
      "Auto mode could not classify consecutive actions. Review this action manually.",
    ],
    allowsOnce: "proceed_once",
    asksBeforeCode: true,
  },
  {
    // 1.0.102: the model gets only the name and line count of a resource; a permission request has the tool's title, not its name.
    agent: /^copilot$/i,
    label: "Copilot",
    tools: { forModel: hyphen, forEditor: [hyphen] },
    passesResources: false,
    reads: { project: [...agents, ...claude], home: agents },
    asksBeforeCode: true,
  },
  {
    // 2.1.0: a permission request has the tool's name as its title, no kind and no input, which was the content of the call before; a call of a
    // subagent is reported by nothing else. Forks have no servers. Titles and replays show a resource as `<resource uri="…">`.
    agent: /^Kimi Code CLI$/,
    label: "Kimi Code",
    tools: { forModel: doubleUnderscore, forEditor: [doubleUnderscore] },
    passesResources: false,
    reads: { project: agents, home: agents },
    adds: ["Requesting approval to Approve {tool}"],
    streamsInput: true,
    asksBeforeCode: true,
  },
  {
    // 0.0.34 with pi-coding-agent 0.87.1: mcpServers are dropped; blocks are joined without a break; skills are `skill:name`.
    agent: /^pi-acp$/,
    label: "pi",
    hasMcpTools: false,
    passesResources: false,
    reads: { project: agents, home: agents },
  },
];

const known = rows.map(({ agent, ...facts }) => ({ agent, facts: { ...unknownAgent, listsCommands: true, ...facts } }));

/** What is known about the agent with this name. */
export function factsOf(name: string): AgentFacts {
  return known.find(({ agent }) => agent.test(name))?.facts ?? unknownAgent;
}

/** Every known agent. */
export const knownAgents: readonly AgentFacts[] = known.map(({ facts }) => facts);
