/**
 * The known facts about agents, one row per agent. Each fact was observed with the named version and a mock model (`npm run test:agents`),
 * in messages, in files or in the agent's answers. A few facts were read in the source, as their rows note.
 */

/** The pattern of an MCP tool's name. `{tool}` is the tool, `{server}` the server's name, `{word}` that name with only word characters. */
export type Spelling = string;

/** Facts about an agent, as plain data: they are sent to the thread of the service. */
export interface AgentFacts {
  /** The agent's usual name. */
  readonly label: string;
  /** The agent's names for MCP tools; undefined if unknown. */
  readonly tools: { readonly forModel: Spelling; readonly forEditor: readonly Spelling[] } | undefined;
  /** Whether the model gets the tools of MCP servers. */
  readonly hasMcpTools: boolean;
  /** The tools that find and call MCP tools, if the agent hides MCP tools from its model until they are searched for. */
  readonly deferral: { readonly search: string; readonly call: string } | undefined;
  /** Whether the text of resources in a prompt reaches the model after the words, no block is lost, and no URI of them is shown. */
  readonly passesResources: boolean;
  /** The skill directories that the agent reads itself, in a project and in the home directory. */
  readonly reads: { readonly project: readonly string[]; readonly home: readonly string[] } | undefined;
  /** Whether the agent lists the skills that it has read as commands. */
  readonly listsSkills: boolean;
  /** Whether the agent lists commands after each session has been opened, so that the list of acp-skills can wait for it. */
  readonly listsCommands: boolean;
  /** Whether other users of the machine can read the agent's configuration. */
  readonly leaksConfiguration: boolean;
  /** Whether the permission request is the first message to the editor about a call. */
  readonly asksFirst: boolean;
  /** The texts that the agent adds to a permission request for a tool of acp-skills; `{tool}` is the tool's name for the model. */
  readonly adds: readonly Spelling[];
  /** The option that allows one call and does nothing else, if the agent offers several options that allow one call. */
  readonly allowsOnce: string | undefined;
  /** Whether the content of a running call is the input that the model has written so far. */
  readonly streamsInput: boolean;
  /** Whether the agent asks the editor before a tool runs code, by default; undefined if unknown. */
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

/** Converts a server's name to the spelling that agents use in tool names. */
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

/** Makes the sentence with which qwen-code reports why the model that decides in its mode "auto" gave no answer. */
function notClassified(reason: string): Spelling {
  return `Auto Mode couldn't classify this action (${reason}). Review it manually. Switching to Default Mode is recommended if you want to continue without the classifier.`;
}

const agents = [".agents/skills"];
const claude = [".claude/skills"];

/** The known agents, by the name in their response to `initialize`. All of them list commands. */
const rows: readonly (Partial<AgentFacts> & { readonly agent: RegExp; readonly label: string })[] = [
  {
    // 0.100.0: tool_call has `name` and `_meta.claudeCode.toolName`; the system prompt has only skills of .claude; `ps` shows mcpServers.
    agent: /\bclaude\b/i,
    label: "Claude",
    tools: { forModel: doubleUnderscore, forEditor: [doubleUnderscore] },
    reads: { project: claude, home: claude },
    leaksConfiguration: true,
    asksBeforeCode: true,
  },
  {
    // 1.18.33: titles are tool names; the input follows the permission request; .agents comes before .claude; skills are read once.
    agent: /^opencode$/i,
    label: "opencode",
    tools: { forModel: underscore, forEditor: [underscore] },
    reads: { project: [...agents, ...claude], home: [...agents, ...claude] },
    asksBeforeCode: false,
  },
  {
    // 7.7.9: a fork of opencode; a permission request, with the input as {mcpInput}, comes before the call is reported.
    agent: /^kilo$/i,
    label: "Kilo",
    tools: { forModel: underscore, forEditor: [underscore] },
    asksBeforeCode: false,
  },
  {
    // 0.36.0, read in its source: titles are tool names, or the input's summary, description or title, which acp-skills' tools lack.
    agent: /^auggie$/i,
    label: "auggie",
    tools: { forModel: toolFirst, forEditor: [toolFirst] },
    asksBeforeCode: false,
  },
  {
    // 2.6.0: title `mcp.skills.run_code`, rawInput {server, tool, arguments}; a permission request has only the id. In mode "agent"
    // another model decides, else the editor is asked. Skills are listed as `$name` and read when used.
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
    // 0.61.0: the permission request is the first message about a call; its input is text. Skills are in the system prompt, not commands.
    // Images beside a resource are dropped.
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
    // 0.24.4: MCP tools are found by tool_search and called by tool_call; titles are the input; _meta.toolName is the tool. In mode "auto"
    // another model decides; if it gives no answer, the editor is asked, with an option that also changes the mode. Resources are put
    // before the words.
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
    // 2.1.0: a permission request has the tool's name as its title, no kind and no input, which was the call's content before. A
    // subagent's calls have no other report. Forks have no servers. Titles and replays show a resource as `<resource uri="…">`.
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

/** Finds the facts about the agent with this name. */
export function factsOf(name: string): AgentFacts {
  return known.find(({ agent }) => agent.test(name))?.facts ?? unknownAgent;
}

/** Every known agent. */
export const knownAgents: readonly AgentFacts[] = known.map(({ facts }) => facts);
