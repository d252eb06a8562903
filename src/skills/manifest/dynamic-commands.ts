/** A command in the instructions of a skill. */
export interface DynamicCommand {
  readonly command: string;
  /** Where it begins in the text, with its mark. */
  readonly offset: number;
  readonly end: number;
}

/**
 * The commands in a text that agents run on this machine, and whose output they put in their place, before the model reads it:
 * `` !`command` `` at the start of a line or after a blank, and blocks that begin with ```` ```! ````. As in Claude Code's "Extend Claude
 * with skills, Inject dynamic context"; neither quotes nor other blocks around them change that. In the order of the text.
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
