/**
 * What is known of agents, in one table. Each fact was seen by driving the named version, installed from npm, against a model on
 * loopback (`npm run test:agents`): what reached the model, what reached the editor, what its files and its answers did.
 */

/** An agent, as it introduces itself in its answer to `initialize`. */
export interface AgentIdentity {
  readonly name: string;
  readonly version: string;
}

/** How the tool of a server is named. */
export type Spelling = (server: string, tool: string) => string;

/** How an agent spells the tools of an MCP server. */
interface ToolSpelling {
  /** To its model. */
  readonly forModel: Spelling;
  /** In the names and titles of calls that it shows to the editor. */
  readonly forEditor: readonly Spelling[];
}

export interface AgentFacts {
  /** What people call it. */
  readonly label: string;
  /** Undefined where it is not known how its model sees tools. */
  readonly tools: ToolSpelling | undefined;
  /** Its model has the tools of MCP servers. */
  readonly hasMcpTools: boolean;
  /** It hides tools from its model until they are searched for; the tools that find and call them. */
  readonly deferral: { readonly search: string; readonly call: string } | undefined;
  /** Resources in a prompt reach its model with their text. */
  readonly passesResources: boolean;
  /** Roots whose skills it tells its model of by itself, in a project and in the home directory. */
  readonly reads: { readonly project: readonly string[]; readonly home: readonly string[] } | undefined;
  /** It lists its own skills as commands; what it does not list, it does not know. */
  readonly listsSkills: boolean;
  /** It lists commands of its own after each session has been opened, so that a list of ours can wait for its. */
  readonly listsCommands: boolean;
  /** Other users of the machine can read what it is given as configuration. */
  readonly leaksConfiguration: boolean;
  /** A request for permission is the first that its editor hears of a call. */
  readonly asksFirst: boolean;
  /** Whether it asks the editor before a tool runs code, as it comes; undefined where it is not known. */
  readonly asksBeforeCode: boolean | undefined;
}

interface Row extends AgentFacts {
  readonly agent: RegExp;
  /** The first version that the row holds for, where an older one was different. */
  readonly from?: string;
  /** The first version that it no longer holds for. */
  readonly below?: string;
}

const doubleUnderscore: Spelling = (server, tool) => `mcp__${toWord(server)}__${tool}`;
const underscore: Spelling = (server, tool) => `${toWord(server)}_${tool}`;
const hyphen: Spelling = (server, tool) => `${toWord(server)}-${tool}`;

/** As agents spell a server's name in the names of its tools. */
export function toWord(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}

const singleUnderscore: Spelling = (server, tool) => `mcp_${toWord(server)}_${tool}`;
const dotted: Spelling = (server, tool) => `mcp.${server}.${tool}`;
const remarked: Spelling = (server, tool) => `${tool} (${server} MCP Server)`;

/** The ways in which tools are spelt by agents of which nothing is known; each names the server. */
export const usualSpellings: readonly Spelling[] = [
  doubleUnderscore,
  underscore,
  hyphen,
  dotted,
  singleUnderscore,
  remarked,
];

const agents = ".agents/skills";
const claude = ".claude/skills";

const rows: readonly Row[] = [
  {
    // 0.100.0: tool_call has `name` and `_meta.claudeCode.toolName`; the system prompt lists skills of .claude only; `ps` shows mcpServers.
    agent: /\bclaude\b/i,
    label: "Claude",
    tools: { forModel: doubleUnderscore, forEditor: [doubleUnderscore] },
    hasMcpTools: true,
    deferral: undefined,
    passesResources: true,
    reads: { project: [claude], home: [claude] },
    listsSkills: true,
    listsCommands: true,
    asksFirst: false,
    leaksConfiguration: true,
    asksBeforeCode: true,
  },
  {
    // 1.18.33: titles are the tools' names and inputs come after the permission; of .agents and .claude the first wins; reads skills once.
    agent: /^opencode$/i,
    label: "opencode",
    tools: { forModel: underscore, forEditor: [underscore] },
    hasMcpTools: true,
    deferral: undefined,
    passesResources: true,
    reads: { project: [agents, claude], home: [agents, claude] },
    listsSkills: true,
    listsCommands: true,
    asksFirst: false,
    leaksConfiguration: false,
    asksBeforeCode: false,
  },
  {
    // 2.6.0: title `mcp.skills.run_code`, rawInput {server, tool, arguments}; a permission has the id alone; in its mode "agent" another
    // model decides, in the others the editor is asked; skills are listed as `$name` and read when they are used.
    agent: /^@agentclientprotocol\/codex-acp$/,
    label: "Codex",
    tools: {
      forModel: doubleUnderscore,
      forEditor: [dotted, doubleUnderscore],
    },
    hasMcpTools: true,
    deferral: undefined,
    passesResources: true,
    reads: { project: [agents], home: [agents] },
    listsSkills: true,
    listsCommands: true,
    asksFirst: false,
    leaksConfiguration: false,
    asksBeforeCode: false,
  },
  {
    // 0.61.0: the first that the editor hears of a call is the request for permission, its input as text; skills stand in its system
    // prompt, and none is a command.
    agent: /^gemini-cli$/,
    label: "Gemini CLI",
    tools: {
      forModel: singleUnderscore,
      forEditor: [remarked, singleUnderscore],
    },
    hasMcpTools: true,
    deferral: undefined,
    passesResources: true,
    reads: { project: [agents], home: [agents] },
    listsSkills: false,
    listsCommands: true,
    asksFirst: true,
    leaksConfiguration: false,
    asksBeforeCode: true,
  },
  {
    // 0.24.4: tools of MCP servers are found by tool_search and called by tool_call; titles are the input; _meta.toolName is the tool.
    agent: /^qwen-code$/,
    label: "qwen-code",
    tools: { forModel: doubleUnderscore, forEditor: [doubleUnderscore] },
    hasMcpTools: true,
    deferral: { search: "tool_search", call: "tool_call" },
    passesResources: true,
    reads: { project: [agents], home: [agents] },
    listsSkills: true,
    listsCommands: true,
    asksFirst: false,
    leaksConfiguration: false,
    asksBeforeCode: true,
  },
  {
    // 1.0.102: of a resource its model is told the name and the number of lines; a permission has our tool's title instead of its name.
    agent: /^copilot$/i,
    label: "Copilot",
    tools: { forModel: hyphen, forEditor: [hyphen] },
    hasMcpTools: true,
    deferral: undefined,
    passesResources: false,
    reads: { project: [agents, claude], home: [agents] },
    listsSkills: true,
    listsCommands: true,
    asksFirst: false,
    leaksConfiguration: false,
    asksBeforeCode: true,
  },
  {
    // 0.0.34 with pi-coding-agent 0.87.1: mcpServers are thrown away; blocks are joined without a break; skills are `skill:name`.
    agent: /^pi-acp$/,
    label: "pi",
    tools: undefined,
    hasMcpTools: false,
    deferral: undefined,
    passesResources: false,
    reads: { project: [agents], home: [agents] },
    listsSkills: true,
    listsCommands: true,
    asksFirst: false,
    leaksConfiguration: false,
    asksBeforeCode: undefined,
  },
];

/** What is assumed of an agent that nobody has driven: as little as can be. */
const unknownAgent: AgentFacts = {
  label: "",
  tools: undefined,
  hasMcpTools: true,
  deferral: undefined,
  passesResources: true,
  reads: undefined,
  listsSkills: true,
  listsCommands: false,
  asksFirst: false,
  leaksConfiguration: false,
  asksBeforeCode: undefined,
};

/** What is known of an agent. */
export function factsOf({ name, version }: AgentIdentity): AgentFacts {
  return rows.find((row) => row.agent.test(name) && holdsFor(row, version)) ?? unknownAgent;
}

/** Every agent that is known, as people call it. */
export function knownAgents(): readonly AgentFacts[] {
  return rows;
}

function holdsFor({ from, below }: Row, version: string): boolean {
  return (from === undefined || !isBefore(version, from)) && (below === undefined || isBefore(version, below));
}

/** Compares by the numbers of a version; a version without any is that of the newest agent. */
function isBefore(version: string, other: string): boolean {
  const ofVersion = numbersIn(version);
  if (ofVersion.length === 0) return false;
  const ofOther = numbersIn(other);
  const place = ofOther.findIndex((number, index) => number !== (ofVersion[index] ?? 0));
  return place !== -1 && (ofVersion[place] ?? 0) < (ofOther[place] ?? 0);
}

function numbersIn(version: string): readonly number[] {
  const [core = ""] = version.split(/[-+]/, 1);
  return core
    .split(".")
    .map(Number)
    .filter((number) => Number.isFinite(number) && core !== "");
}

/**
 * Whether an agent itself reads one of the roots under which a skill was found, so that its copy is ours; undefined where that is not
 * known. Roots are absolute, as configured.
 */
export function readsItself({ reads }: AgentFacts, roots: readonly string[], home: string): boolean | undefined {
  if (reads === undefined) return undefined;
  const ofHome = withSlashes(home).replace(/\/$/, "");
  return roots.map(withSlashes).some((root) => {
    if (reads.home.some((read) => root === `${ofHome}/${read}`)) return true;
    return !root.startsWith(`${ofHome}/.`) && reads.project.some((read) => root.endsWith(`/${read}`));
  });
}

function withSlashes(path: string): string {
  return path.replaceAll("\\", "/");
}
