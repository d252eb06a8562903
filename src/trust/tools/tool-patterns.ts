import { unseenCharacters } from "../../base/unseen-characters.ts";
import { type CommandWord, readCommand } from "./command-words.ts";
import { canBeHarmless, isHarmless } from "./harmless-commands.ts";

type FileTool = "Read" | "Edit" | "Write" | "NotebookEdit";

/** What an agent wants to use a tool for, with the tool's name as in `allowed-tools`. Plain data. */
export type ToolUse =
  | { readonly tool: "Bash"; readonly command: string }
  /** `path`: below one of the session's directories, with slashes, without `.` and `..`. */
  | { readonly tool: FileTool; readonly path: string }
  | { readonly tool: "WebFetch"; readonly url: string }
  /** `name`: `mcp__SERVER__TOOL`. */
  | { readonly tool: "mcp"; readonly server: string; readonly name: string };

/** A tool use in one line, as a pattern would spell it. */
export function toolUseInWords(use: ToolUse): string {
  if ("path" in use) return `${use.tool}(${use.path})`;
  switch (use.tool) {
    case "Bash":
      return `Bash(${use.command})`;
    case "WebFetch":
      return `WebFetch(${use.url})`;
    case "mcp":
      return use.name;
  }
}

/** What an entry of `allowed-tools` covers. */
export type ToolPattern =
  /** Single commands of exactly these words, undefined for one of any kind; with `more`, others may follow. */
  | { readonly tool: "Bash"; readonly words: readonly (string | undefined)[]; readonly more: boolean }
  | { readonly tool: FileTool; readonly segments: readonly string[] }
  | { readonly tool: "WebFetch"; readonly host: string; readonly isBelow: boolean }
  | { readonly tool: "mcp" };

/** Whether an entry of `allowed-tools` covers a use of a tool. */
export function coversUse(entry: string, use: ToolUse): boolean {
  const pattern = readPattern(entry);
  if (pattern === undefined) return false;
  switch (pattern.tool) {
    case "Bash":
      return use.tool === "Bash" && coversCommand(pattern, use.command);
    case "WebFetch":
      return use.tool === "WebFetch" && coversUrl(pattern, use.url);
    case "mcp":
      return use.tool === "mcp" && coversMcp(entry, use);
    case "Read":
    case "Edit":
    case "Write":
    case "NotebookEdit":
      return "path" in use && use.tool === pattern.tool && coversPath(pattern.segments, use.path);
  }
}

const longestPattern = 256;
const entryForm = /^(Bash|Read|Edit|Write|NotebookEdit|WebFetch)\((.+)\)$/s;
/** With `*`, what is before it is a server. */
const mcpForm = /^mcp__(?:[\w.-]+|(?:(?!__)[\w.-])+__\*)$/;

/**
 * Reads an entry of `allowed-tools`: `Bash(git log:*)` and `Bash(git log *)` (single commands that begin with these words), `Bash(npm test)`
 * (exactly this one), `Edit(src/**)` (files of the session's directories, names with a dot only where they are spelt),
 * `WebFetch(domain:example.com)`, `mcp__server__tool`. Undefined for any other, which covers nothing, such as the name of a tool alone,
 * `Bash(*)`, `Edit(**)`, and commands with a wildcard of which nothing is known to be harmless: in case of doubt, a person is asked.
 */
export function readPattern(entry: string): ToolPattern | undefined {
  if (entry.length > longestPattern) return undefined;
  if (mcpForm.test(entry)) return { tool: "mcp" };
  const [, tool, body = ""] = entryForm.exec(entry) ?? [];
  switch (tool) {
    case undefined:
      return undefined;
    case "Bash":
      return readCommandPattern(body);
    case "WebFetch": {
      const [, wildcard, host] = domain.exec(body) ?? [];
      return host === undefined ? undefined : { tool, host, isBelow: wildcard !== undefined };
    }
    default: {
      const segments = readSegments(body.replace(/^\.\//, ""));
      return segments && !nameless.test(body) && pathPattern.test(body)
        ? { tool: tool as FileTool, segments }
        : undefined;
    }
  }
}

type CommandPattern = Extract<ToolPattern, { readonly tool: "Bash" }>;

const patternWord = /^[\w\-./:=+,@%~]+$/;

function readCommandPattern(body: string): CommandPattern | undefined {
  const ending = [":*", " *", "*"].find((end) => body.endsWith(end));
  const fixed = ending === undefined ? body : body.slice(0, -ending.length);
  const parts = fixed.split(" ");
  if (!parts.every((word, place) => patternWord.test(word) || (word === "*" && place > 0))) return undefined;
  const words = parts.map((word) => (word === "*" ? undefined : word));
  const canCover = !words.includes(undefined) || canBeHarmless(words);
  return canCover ? { tool: "Bash", words, more: ending !== undefined } : undefined;
}

/** A command that the skill spells in full, or a harmless one. */
function coversCommand({ words: expected, more }: CommandPattern, command: string): boolean {
  const words = readCommand(command);
  if (words === undefined || words.length < expected.length || (words.length > expected.length && !more)) return false;
  if (!expected.every((value, place) => isWord(words[place], value))) return false;
  return (words.length === expected.length && !expected.includes(undefined)) || isHarmless(words);
}

function isWord(word: CommandWord | undefined, expected: string | undefined): boolean {
  if (word === undefined || word.isGlob) return false;
  return expected === undefined || word.value === expected;
}

const domain = /^domain:(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*)$/;

function coversUrl({ host, isBelow }: Extract<ToolPattern, { readonly tool: "WebFetch" }>, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, username, password } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return false;
  if (port !== "" || username !== "" || password !== "") return false;
  return isBelow ? hostname.endsWith(`.${host}`) : hostname === host;
}

const mcpPrefix = "mcp__";

/** `mcp__server`, `mcp__server__*` and `mcp__server__tool`. */
function coversMcp(entry: string, { server, name }: Extract<ToolUse, { readonly tool: "mcp" }>): boolean {
  if (entry === name) return true;
  const wholeServer = entry.slice(mcpPrefix.length).replace(/__\*$/, "");
  // A longer name could be that of another server.
  if (wholeServer.includes("__") || wholeServer.includes("*")) return false;
  return wholeServer === server && name.startsWith(`${mcpPrefix}${server}__`);
}

const longestPath = 4_096;
const pathPattern = new RegExp(`^[^?[\\]{}()!\\\\~\\p{C}${unseenCharacters}]+$`, "u");
/** As wide as the tool itself. */
const nameless = /^[*./]*$/;

function coversPath(pattern: readonly string[], path: string): boolean {
  const segments = path.length > longestPath ? undefined : readSegments(path);
  return segments !== undefined && coversSegments(pattern, segments);
}

function readSegments(path: string): readonly string[] | undefined {
  const segments = path.split("/");
  return segments.some((segment) => segment === "" || segment === "." || segment === "..") ? undefined : segments;
}

/** `**` stands for any number of directories. Quadratic at most. */
function coversSegments(pattern: readonly string[], segments: readonly string[]): boolean {
  /** Which numbers of leading segments the pattern so far covers. */
  let covered = new Set([0]);
  for (const part of pattern) {
    const next = new Set<number>();
    for (const count of covered) {
      if (part !== "**") {
        if (coversSegment(part, segments[count])) next.add(count + 1);
        continue;
      }
      let end = count;
      while (!next.has(end)) {
        next.add(end);
        if (isVisible(segments[end])) end++;
      }
    }
    covered = next;
  }
  return covered.has(segments.length);
}

function isVisible(segment: string | undefined): boolean {
  return segment !== undefined && !segment.startsWith(".");
}

/** A name in which `*` stands for any characters. Linear in each part, because the first fit of a part is as good as any. */
function coversSegment(part: string, segment: string | undefined): boolean {
  if (segment === undefined) return false;
  const [first = "", ...others] = part.split("*");
  const last = others.pop();
  if (last === undefined) return segment === part;
  if (!segment.startsWith(first) || (first === "" && segment.startsWith("."))) return false;
  let at = first.length;
  for (const other of others) {
    const found = segment.indexOf(other, at);
    if (found === -1) return false;
    at = found + other.length;
  }
  return segment.length - last.length >= at && segment.endsWith(last);
}
