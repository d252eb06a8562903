import { type CommandWord, readCommand, startsAnother } from "./command-words.ts";

type FileTool = "Read" | "Edit" | "Write" | "NotebookEdit";

/** What an agent wants to use a tool for, with the tool's name as in `allowed-tools`. Plain data. */
export type ToolUse =
  | { readonly tool: "Bash"; readonly command: string }
  /** `path`: below one of the session's directories, with slashes, without `.` and `..`. */
  | { readonly tool: FileTool; readonly path: string }
  | { readonly tool: "WebFetch"; readonly url: string }
  | { readonly tool: "WebSearch"; readonly query: string }
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
    case "WebSearch":
      return `WebSearch(${use.query})`;
    case "mcp":
      return use.name;
  }
}

/**
 * Whether an entry of `allowed-tools` covers a use of a tool. Entries are those that agents know: `Bash` (every command), `Bash(git:*)` and
 * `Bash(git add *)` (single commands that begin with these words), `Bash(npm test)` (exactly this one), `Read` and `Edit(src/**)` (files of
 * the session's directories, names with a dot only where they are spelt), `WebFetch(domain:example.com)`, `mcp__server__tool`. Any other
 * entry covers nothing, `*` and `Bash(*)` included: in case of doubt, a person is asked.
 */
export function coversUse(pattern: string, use: ToolUse): boolean {
  const entry = readEntry(pattern);
  if (entry === undefined) return false;
  if (use.tool === "mcp") return entry.body === undefined && coversMcp(entry.name, use);
  if (entry.name !== use.tool) return false;
  if ("path" in use) return coversPath(entry.body ?? "**", use.path);
  switch (use.tool) {
    case "Bash":
      return entry.body === undefined || coversCommand(entry.body, use.command);
    case "WebFetch":
      return coversUrl(entry.body, use.url);
    case "WebSearch":
      return entry.body === undefined;
  }
}

const longestPattern = 256;
const toolName = /^[A-Za-z][\w.-]*(?:\*)?$/;

function readEntry(pattern: string): { readonly name: string; readonly body: string | undefined } | undefined {
  if (pattern.length > longestPattern) return undefined;
  const open = pattern.indexOf("(");
  const name = open === -1 ? pattern : pattern.slice(0, open);
  if (!toolName.test(name)) return undefined;
  if (open === -1) return { name, body: undefined };
  const body = pattern.endsWith(")") ? pattern.slice(open + 1, -1) : "";
  return body === "" ? undefined : { name, body };
}

/** How the words of a command are described: exactly these; with `more`, anything may follow. */
interface CommandPattern {
  /** Undefined for one word of any kind. */
  readonly words: readonly (string | undefined)[];
  readonly more: boolean;
}

const patternWord = /^[\w\-./:=+,@%~]+$/;

function readCommandPattern(body: string): CommandPattern | undefined {
  const ending = [":*", " *", "*"].find((end) => body.endsWith(end));
  const fixed = ending === undefined ? body : body.slice(0, -ending.length);
  const words = fixed.split(" ");
  const isValid = words.every((word, place) => patternWord.test(word) || (word === "*" && place > 0));
  if (!isValid) return undefined;
  return { words: words.map((word) => (word === "*" ? undefined : word)), more: ending !== undefined };
}

function coversCommand(body: string, command: string): boolean {
  const pattern = readCommandPattern(body);
  const words = readCommand(command);
  const program = words?.[0]?.value;
  if (pattern === undefined || words === undefined || program === undefined) return false;
  const isLong = pattern.more ? words.length >= pattern.words.length : words.length === pattern.words.length;
  if (!isLong || !pattern.words.every((expected, place) => isWord(words[place], expected))) return false;
  return words.every((word, place) => pattern.words[place] === word.value || !startsAnother(program, word));
}

function isWord(word: CommandWord | undefined, expected: string | undefined): boolean {
  if (word === undefined || word.isGlob) return false;
  return expected === undefined || word.value === expected;
}

const domain = /^domain:(\*\.)?([a-z0-9-]+(?:\.[a-z0-9-]+)*)$/;

function coversUrl(body: string | undefined, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, port, username, password } = new URL(text);
  if (protocol !== "https:" && protocol !== "http:") return false;
  if (body === undefined) return true;
  const [, wildcard, host] = domain.exec(body) ?? [];
  if (host === undefined || port !== "" || username !== "" || password !== "") return false;
  return wildcard === undefined ? hostname === host : hostname.endsWith(`.${host}`);
}

const mcpPrefix = "mcp__";

/** `mcp__server`, `mcp__server__*` and `mcp__server__tool`. */
function coversMcp(entry: string, { server, name }: Extract<ToolUse, { readonly tool: "mcp" }>): boolean {
  if (!entry.startsWith(mcpPrefix)) return false;
  if (entry === name) return true;
  const wholeServer = entry.slice(mcpPrefix.length).replace(/__\*$/, "");
  // A longer name could be that of another server.
  if (wholeServer.includes("__") || wholeServer.includes("*")) return false;
  return wholeServer === server && name.startsWith(`${mcpPrefix}${server}__`);
}

const longestPath = 4_096;
const pathPattern = /^[^?[\]{}()!\\~\p{C}]+$/u;

function coversPath(body: string, path: string): boolean {
  if (!pathPattern.test(body) || path.length > longestPath) return false;
  const pattern = body.replace(/^\.\//, "").split("/");
  const segments = path.split("/");
  if ([...pattern, ...segments].some((segment) => segment === "" || segment === "." || segment === "..")) return false;
  return coversSegments(pattern, segments);
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
