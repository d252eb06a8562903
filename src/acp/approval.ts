import { isRecord, type JsonRecord, recordAt } from "./raw-message.ts";
import { servedTools } from "./served-tools.ts";

/** The answer that we give in the editor's place. */
export interface Approval {
  readonly tool: string;
  readonly optionId: string;
}

/** Our server as one session's agent knows it. */
export interface KnownServer {
  readonly name: string;
  /** The editor's own servers. */
  readonly others: readonly string[];
}

/**
 * Decides whether a request for permission is one that we may answer: a call of a read-only tool of ours, and only once.
 * Undefined for everything else, and wherever there is doubt. What a model can word, such as the title of a shell command, never
 * decides alone.
 */
export function approve(params: JsonRecord, server: KnownServer): Approval | undefined {
  const toolCall = toolCallIn(params);
  const tool = toolCall && toolOf(toolCall, server);
  if (toolCall === undefined || tool === undefined) return undefined;
  const facts = servedTools.get(tool);
  if (facts?.readOnly !== true || !isInputOf(toolCall["rawInput"], facts.parameters)) return undefined;
  const options = Array.isArray(params["options"]) ? (params["options"] as unknown[]) : [];
  const option = options.find((candidate) => isRecord(candidate) && candidate["kind"] === "allow_once");
  const optionId = isRecord(option) ? option["optionId"] : undefined;
  return typeof optionId === "string" ? { tool, optionId } : undefined;
}

/** v1 asks about a tool call; v2 about a subject, which may be one. */
function toolCallIn(params: JsonRecord): JsonRecord | undefined {
  const subject = recordAt(params, "subject");
  if (subject === undefined) return recordAt(params, "toolCall");
  return subject["type"] === "tool_call" ? recordAt(subject, "toolCall") : undefined;
}

function toolOf(toolCall: JsonRecord, server: KnownServer): string | undefined {
  const claude = recordAt(toolCall, "_meta", "claudeCode");
  const servedBy = recordAt(claude, "mcpServer")?.["name"];
  if (servedBy !== undefined && servedBy !== server.name) return undefined;
  const names = [toolCall["name"], claude?.["toolName"]].filter((name) => name !== undefined && name !== null);
  const [name] = names;
  if (name === undefined) return titledTool(toolCall, server);
  return names.every((other) => other === name) ? namedTool(name, server) : undefined;
}

/** By the name of the tool itself: `mcp__skills__list_skills`, or `skills_list_skills`. */
function namedTool(name: unknown, server: KnownServer): string | undefined {
  for (const tool of servedTools.keys()) {
    if (name === `mcp__${toWord(server.name)}__${tool}`) return isOnlyOne(server, "__") ? tool : undefined;
    if (name === `${toWord(server.name)}_${tool}`) return isOnlyOne(server, "_") ? tool : undefined;
  }
  return undefined;
}

/**
 * By its title, for opencode, which tells no name. There the title of a shell command is the command, but its kind is another, and
 * so is its input.
 */
function titledTool(toolCall: JsonRecord, server: KnownServer): string | undefined {
  const isOther = toolCall["kind"] === "other" && isRecord(toolCall["rawInput"]);
  return isOther ? namedTool(toolCall["title"], server) : undefined;
}

function isInputOf(rawInput: unknown, parameters: readonly string[]): boolean {
  if (rawInput === undefined || rawInput === null) return true;
  return isRecord(rawInput) && Object.keys(rawInput).every((key) => parameters.includes(key));
}

/** Whether no other server's tools could have the same names: `skills` with `list_x`, and `skills_list` with `x`. */
function isOnlyOne({ name, others }: KnownServer, separator: string): boolean {
  const word = toWord(name);
  return !others.some((other) => toWord(other) === word || toWord(other).startsWith(`${word}${separator}`));
}

/** As agents spell a server's name in the names of its tools. */
function toWord(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_");
}
