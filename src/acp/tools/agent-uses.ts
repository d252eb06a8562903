import path from "node:path";
import type { ToolUse } from "../../trust/tools/tool-patterns.ts";
import { isRecord, type JsonRecord, recordAt } from "../bytes/raw-message.ts";
import { type AgentFacts, toWord } from "../session/agents.ts";
import { isGiven, type KnownServer } from "./recognise-call.ts";

/** A use of a tool as an agent asks for it: files by their absolute paths. */
export type AgentToolUse =
  | Exclude<ToolUse, { readonly path: string }>
  | { readonly tool: Extract<ToolUse, { readonly path: string }>["tool"]; readonly file: string };

/**
 * What an agent asks permission for, if that is certain: only for agents whose requests are known, only by fields that their programs
 * set, and only if everything else in the request agrees. A model can choose inputs, but not what they are inputs of.
 */
export function toolUseIn(
  toolCall: JsonRecord,
  { permissionForm }: Pick<AgentFacts, "permissionForm">,
  server: KnownServer,
  { platform, env }: Pick<NodeJS.Process, "platform" | "env"> = process,
): AgentToolUse | undefined {
  const use =
    permissionForm === "claude"
      ? claudeUse(toolCall, server)
      : permissionForm === "opencode"
        ? opencodeUse(toolCall)
        : undefined;
  // Another shell reads other words in the same command.
  const isReadable = platform !== "win32" && knownShell.test(env["SHELL"] ?? "");
  return use?.tool === "Bash" && !isReadable ? undefined : use;
}

const knownShell = /(?:^|\/)(?:sh|bash|zsh)$/;

/** Claude names its tool, and its input is the tool's. */
function claudeUse(toolCall: JsonRecord, server: KnownServer): AgentToolUse | undefined {
  const { kind, title, rawInput: input } = toolCall;
  const claude = recordAt(toolCall, "_meta", "claudeCode");
  const [name, ...names] = [toolCall["name"], claude?.["toolName"]].filter(isGiven);
  if (typeof name !== "string" || names.some((other) => other !== name) || !isRecord(input)) return undefined;
  switch (name) {
    case "Bash": {
      const { command, description } = input;
      const agrees =
        hasOnly(input, ["command", "description", "timeout", "run_in_background"]) &&
        kind === "execute" &&
        title === command &&
        partsOf(toolCall).every((part) => isText(part, description));
      return agrees && typeof command === "string" ? { tool: "Bash", command } : undefined;
    }
    case "Read":
      return hasOnly(input, ["file_path", "offset", "limit", "pages"]) && kind === "read"
        ? fileUse("Read", input["file_path"], toolCall)
        : undefined;
    case "Edit":
      return hasOnly(input, ["file_path", "old_string", "new_string", "replace_all"]) && kind === "edit"
        ? fileUse("Edit", input["file_path"], toolCall)
        : undefined;
    case "Write":
      return hasOnly(input, ["file_path", "content"]) && kind === "edit"
        ? fileUse("Write", input["file_path"], toolCall)
        : undefined;
    case "WebFetch": {
      const { url } = input;
      return hasOnly(input, ["url", "prompt"]) && kind === "fetch" && typeof url === "string"
        ? { tool: "WebFetch", url }
        : undefined;
    }
    default:
      return title === name && (kind === "other" || !isGiven(kind)) ? mcpUse(name, claude, server) : undefined;
  }
}

/** Tools of an MCP server that the agent names, except ours. */
function mcpUse(name: string, claude: JsonRecord | undefined, server: KnownServer): AgentToolUse | undefined {
  const given = recordAt(claude, "mcpServer")?.["name"];
  if (typeof given !== "string") return undefined;
  const word = toWord(given);
  const isOfServer = name.startsWith(`mcp__${word}__`) && word !== toWord(server.name);
  return isOfServer ? { tool: "mcp", server: word, name } : undefined;
}

/** opencode names no tool: its program derives the kind from the tool, and sets the input and the title by kind. */
function opencodeUse(toolCall: JsonRecord): AgentToolUse | undefined {
  const { kind, title, rawInput: input, _meta } = toolCall;
  if (!isRecord(input) || isGiven(_meta) || isGiven(toolCall["name"])) return undefined;
  const parts = partsOf(toolCall);
  switch (kind) {
    case "execute": {
      const { command } = input;
      const agrees = hasOnly(input, ["command"]) && title === command && parts.length === 0;
      return agrees && typeof command === "string" ? { tool: "Bash", command } : undefined;
    }
    case "edit": {
      const [part, ...more] = parts;
      const isNew = isRecord(part) && part["oldText"] === "";
      const file = input["filepath"];
      return hasOnly(input, ["filepath", "diff"]) && title === file && part !== undefined && more.length === 0
        ? fileUse(isNew ? "Write" : "Edit", file, toolCall)
        : undefined;
    }
    case "fetch": {
      const { url } = input;
      const agrees = hasOnly(input, ["url", "format", "timeout"]) && title === url && parts.length === 0;
      return agrees && typeof url === "string" ? { tool: "WebFetch", url } : undefined;
    }
    default:
      return undefined;
  }
}

function fileUse(tool: "Read" | "Edit" | "Write", file: unknown, toolCall: JsonRecord): AgentToolUse | undefined {
  if (typeof file !== "string" || !path.isAbsolute(file) || path.normalize(file) !== file) return undefined;
  const { locations } = toolCall;
  const places = Array.isArray(locations) ? (locations as unknown[]) : [];
  const isSame = (value: unknown): boolean => isRecord(value) && value["path"] === file;
  const agrees =
    places.length > 0 &&
    places.every(isSame) &&
    partsOf(toolCall).every((part) => isRecord(part) && part["type"] === "diff" && isSame(part));
  return agrees ? { tool, file } : undefined;
}

/** The content of a tool call; something that nothing agrees with if it is not a list. */
function partsOf({ content }: JsonRecord): readonly unknown[] {
  if (!isGiven(content)) return [];
  return Array.isArray(content) ? (content as unknown[]) : [content];
}

function isText(part: unknown, text: unknown): boolean {
  const content = recordAt(part, "content");
  return isRecord(part) && part["type"] === "content" && content?.["type"] === "text" && content["text"] === text;
}

function hasOnly(input: JsonRecord, names: readonly string[]): boolean {
  return Object.keys(input).every((name) => names.includes(name));
}
