import { isObject } from "../../base/json/json-value.ts";
import { attempt } from "../../base/failures/system-error.ts";
import type { HeadReader } from "../files.ts";
import { findFrontmatter, isYaml } from "./frontmatter.ts";
import { readYaml } from "./yaml.ts";

/** A command in the instructions of a skill. */
export interface DynamicCommand {
  readonly command: string;
  /** The offset of the command in the text, including its mark. */
  readonly offset: number;
  readonly end: number;
}

/**
 * Finds the commands in a text that agents run on this machine before the model reads it. Their output replaces them in the text. They are
 * `` !`command` `` at the start of a line or after a blank, and blocks that begin with ```` ```! ````. As in Claude Code's "Extend Claude
 * with skills, Inject dynamic context"; quotes or other blocks around them change nothing. In the order of the text.
 */
export function findDynamicCommands(text: string): readonly DynamicCommand[] {
  return [...blocksIn(text), ...inlineIn(text)].sort((one, other) => one.offset - other.offset);
}

const fence = "```";

function* blocksIn(text: string): Iterable<DynamicCommand> {
  for (let offset = text.indexOf(`${fence}!`); offset >= 0;) {
    const start = offset + fence.length + 1;
    const close = text.indexOf(fence, start);
    if (close < 0) return;
    const command = text.slice(start, close).trim();
    if (command !== "") yield { command, offset, end: close + fence.length };
    offset = text.indexOf(`${fence}!`, close + fence.length);
  }
}

function* inlineIn(text: string): Iterable<DynamicCommand> {
  for (let offset = text.indexOf("!`"); offset >= 0;) {
    const close = text.indexOf("`", offset + 2);
    if (close < 0) return;
    const isMark = (offset === 0 || /\s/.test(text.charAt(offset - 1))) && close > offset + 2;
    if (isMark) yield { command: text.slice(offset + 2, close), offset, end: close + 1 };
    offset = text.indexOf("!`", isMark ? close + 1 : offset + 2);
  }
}

/** The maximum number of commands of a skill that are shown. */
const maxCommands = 20;
const maxTextBytes = 16 * 1024 * 1024;

/**
 * The commands that agents that load a skill themselves run on this machine: those in its instructions, and those of the `hooks` in its
 * frontmatter. Nothing here runs them. Empty for a file that cannot be read.
 */
export function readHostCommands(file: string, files: HeadReader): readonly string[] {
  const bytes = attempt(() => files.head(file, maxTextBytes).bytes, undefined);
  if (bytes === undefined) return [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = findFrontmatter(text, true);
  const hasFrontmatter = found.kind === "found" && isYaml(found.language);
  const body = text.toString("utf8", hasFrontmatter ? found.bodyStart : 0);
  const hooks = hasFrontmatter ? readYaml(text.toString("utf8", found.start, found.end)).values["hooks"] : undefined;
  const commands = [...findDynamicCommands(body).map(({ command }) => command), ...hookCommands(hooks)];
  const shown = [...new Set(commands)];
  if (shown.length <= maxCommands) return shown;
  return [...shown.slice(0, maxCommands), `and ${shown.length - maxCommands} more`];
}

const deepestHook = 8;

/** Yields the values of `command` at any depth of hooks. */
function* hookCommands(value: unknown, depth = 0): Iterable<string> {
  if (typeof value !== "object" || value === null || depth > deepestHook) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "command" && typeof inner === "string" && isObject(value)) yield inner;
    else yield* hookCommands(inner, depth + 1);
  }
}
