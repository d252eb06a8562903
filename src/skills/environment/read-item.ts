import { isCommandName, knownProgram } from "./known-programs.ts";
import type { Demand, ProgramDemand, System } from "./requirement.ts";
import { readRange } from "./version-range.ts";

/** One item of a list of requirements, understood; `isLikely`: its name may not be that of the program. */
export interface Item {
  readonly demand: Demand;
  readonly isLikely?: true;
  readonly optional?: true;
}

const systems: Readonly<Record<string, System>> = {
  linux: "linux",
  macos: "macos",
  "mac os": "macos",
  "os x": "macos",
  "mac os x": "macos",
  osx: "macos",
  mac: "macos",
  darwin: "macos",
  windows: "windows",
  win32: "windows",
};

/** The system of that name. */
export function readSystem(name: string): System | undefined {
  const key = name.toLowerCase();
  return Object.hasOwn(systems, key) ? systems[key] : undefined;
}

const agents: readonly string[] = [
  "Claude Code",
  "Claude",
  "Claude.ai",
  "Claude Desktop",
  "Codex",
  "Codex CLI",
  "OpenAI Codex",
  "Cursor",
  "Gemini CLI",
  "GitHub Copilot",
  "GitHub Copilot CLI",
  "Copilot CLI",
  "VS Code",
  "opencode",
  "Windsurf",
  "Goose",
  "Zed",
  "Amp",
  "Cline",
  "Roo Code",
  "OpenClaw",
  "Antigravity",
];
const agentNames = new Map(agents.map((name) => [name.toLowerCase(), name]));

/** The agent of that name, as its makers spell it. */
export function readAgent(name: string): string | undefined {
  return agentNames.get(name.toLowerCase());
}

const network = /^(?:internet|network)(?: (?:access|connection|connectivity))?$|^access to the (?:internet|network)$/i;
const variable = /^\$?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?: (?:environment variable|env var|env variable))?$/;
const variableSet = /^[\w .-]+ set (?:as|in) `?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`?$/;
const quotedCommand = /^(?:[\w .-]* as )?`([^`]+)`(?: (?:cli|command|binary|program))?$/i;
const namedTool = /^([a-z][a-z0-9._-]*) (?:cli|CLI|command|binary)$/;

/** Understands one item, such as `Python 3.10+`, `the gh CLI` or `network access`; undefined if any part of it is not understood. */
export function readItem(text: string): Item | undefined {
  const { plain, remarks } = withoutRemarks(text);
  if (plain === undefined) return undefined;
  const words = plain
    .replace(/^(?:an?|the|working|active) /i, "")
    .replace(/ (?:is |are |to be |must be )?(?:installed|available)(?= |$)/i, "")
    .replace(/ (?:on|in) (?:the |your )?`?PATH`?$/, "")
    .trim();
  const item = readPlain(words);
  if (item === undefined) return undefined;
  return remarks === "optional" ? { ...item, optional: true } : item;
}

function readPlain(words: string): Item | undefined {
  if (network.test(words)) return { demand: { kind: "network", hosts: [] } };
  const system = readSystem(words);
  if (system !== undefined) return { demand: { kind: "system", anyOf: [system] } };
  const [, name] = variable.exec(words) ?? variableSet.exec(words) ?? [];
  if (name !== undefined) return { demand: { kind: "variable", variable: name } };
  const agent = readAgent(words);
  if (agent !== undefined) return { demand: { kind: "agent", anyOf: [agent] } };
  const known = readKnown(words);
  if (known !== undefined) return { demand: { kind: "program", anyOf: [known] } };
  const [, quoted] = quotedCommand.exec(words) ?? [];
  if (quoted !== undefined && isCommandName(quoted)) return { demand: program(quoted) };
  const [, tool] = namedTool.exec(words) ?? [];
  return tool !== undefined && isCommandName(tool) ? { demand: program(tool), isLikely: true } : undefined;
}

function program(command: string): Demand {
  return { kind: "program", anyOf: [{ name: command, commands: [command] }] };
}

/** Words after a program's name that do not change what it is. */
const noun = /^(?:(?:cli|command-line|command line|command|tools?|binary|runtime|interpreter)(?: |$)){0,2}/i;
const longestName = 3;

/** A program that we know, with an optional version: `Python 3.10+`, `Node.js >= 18`, `gh CLI`. */
function readKnown(text: string): ProgramDemand | undefined {
  const words = text
    .replace(/(?<=[\w.])(?=[<>=≥≤~^])/g, " ")
    .split(" ")
    .filter((word) => word !== "");
  for (let length = Math.min(longestName, words.length); length > 0; length--) {
    const found = knownProgram(words.slice(0, length).join(" ").replaceAll("`", ""));
    if (found === undefined) continue;
    const rest = words
      .slice(length)
      .join(" ")
      .replace(noun, "")
      .replace(/^(?:version |v(?=\d))/i, "");
    if (rest === "") return found;
    const range = readRange(rest);
    return range === undefined ? undefined : { ...found, range };
  }
  return undefined;
}

/** Takes remarks in parentheses out of an item. A remark that could restrict it makes it unclear. */
function withoutRemarks(text: string): { readonly plain?: string; readonly remarks?: "optional" } {
  const open = text.indexOf("(");
  if (open === -1) return text.includes(")") ? {} : { plain: text.trim() };
  const close = text.indexOf(")", open);
  if (close === -1 || text.indexOf("(", open + 1) !== -1 || text.indexOf(")", close + 1) !== -1) return {};
  const inner = text.slice(open + 1, close).trim();
  const around = `${text.slice(0, open).trimEnd()} ${text.slice(close + 1).trimStart()}`.trim();
  if (/^optional$/i.test(inner)) return { plain: around, remarks: "optional" };
  // A link to a page about it.
  if (/^https?:\/\/\S+$/.test(inner)) return { plain: around };
  if (/^(?:[\w.+]+ )?(?:recommended|preferred|tested)$/i.test(inner)) return { plain: around };
  return readRange(inner.replace(/^(?:version |v(?=\d))/i, "")) === undefined ? {} : { plain: `${around} ${inner}` };
}
