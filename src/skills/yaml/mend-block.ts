import { isField } from "../manifest/specification-fields.ts";
import { readAsText } from "./read-as-text.ts";
import { isBlankOrComment, nextLine } from "./yaml-blocks.ts";
import type { YamlBlock } from "./yaml-blocks.ts";
import { isLineEnd, skipBlanks, yamlKeyAt } from "./yaml-key.ts";
import { toFault } from "./yaml-fault.ts";
import type { Fault, YamlAttempt } from "./yaml.ts";

type Load = (text: string) => YamlAttempt;

/** The result of reading one block, valid YAML or not. */
export interface MendedBlock {
  /** The block as a mapping; undefined if its value cannot be read. */
  readonly values: unknown;
  readonly faults: readonly Fault[];
  /** Valid YAML with the same meaning; undefined if the block is valid already, or ambiguous. */
  readonly text: string | undefined;
  /** End of the text to replace. Comments and blank lines after the value are kept. */
  readonly end: number;
}

/** Reads the lines of one key: unchanged, else with obvious mistakes corrected, else as plain text. */
export function mendBlock(text: string, block: YamlBlock & { readonly key: string }, load: Load): MendedBlock {
  const { key, start, indent, value } = block;
  const end = valueEnd(text, block);
  const faults: Fault[] = [];
  if (indent > 0) faults.push(indentedKey(block));
  const base = start + indent;
  let source = text.slice(base, end);
  const unindented = /^["']/.test(text.slice(value, value + 1)) ? unindentedLine(text, value, end) : -1;
  if (unindented >= 0) {
    faults.push(unindentedText(key, text, unindented));
    source = source.replace(/\n(?=\S)/g, "\n  ");
  }
  const repaired = repair(source, base, load);
  const { attempt, isCertain } = repaired;
  if (!("reason" in attempt)) {
    faults.push(...repaired.faults);
    const isMended = faults.length > 0 && isCertain;
    return { values: attempt.values, faults, text: isMended ? repaired.text : undefined, end };
  }
  const { cause, reason } = attempt;
  if (cause === "length") return { values: undefined, faults: [...faults, unreadKey(block)], text: undefined, end };
  const isRefused = cause === "aliases" || reason.includes("tag ");
  const asText = isRefused ? undefined : readAsText(key, text.slice(value, end), value);
  if (asText === undefined) {
    const offset = Math.min(attempt.offset, source.trimEnd().length);
    faults.push(...repaired.faults, toFault({ ...attempt, offset }, base));
    return { values: undefined, faults, text: undefined, end };
  }
  const isSure = asText.written !== undefined && !mayCloseBelow(text, block);
  return {
    values: Object.fromEntries([[key, asText.value]]),
    faults: [...faults, asText.fault],
    text: isSure ? `${text.slice(base, value)}${asText.written}` : undefined,
    end,
  };
}

/** Maximum number of repairs in one block. */
const mostRepairs = 20;
/** `\U` and seven digits: the maximum distance of an escape error from its backslash. */
const longestEscape = 9;

interface Repaired {
  readonly attempt: YamlAttempt;
  readonly text: string;
  readonly faults: readonly Fault[];
  /** False if a removed duplicate line differs from the line that is kept. */
  readonly isCertain: boolean;
}

/** Loads a block after removing duplicate keys, escaping unknown escape sequences, and replacing indentation tabs by spaces. */
function repair(source: string, base: number, load: Load): Repaired {
  const faults: Fault[] = [];
  let text = source;
  let added = 0;
  let isCertain = true;
  let attempt = load(text);
  while ("reason" in attempt && faults.length < mostRepairs) {
    const { reason, offset } = attempt;
    const backslash = text.lastIndexOf("\\", offset);
    if (reason.includes("duplicated")) {
      faults.push(toFault({ ...attempt, offset: offset - added }, base));
      const from = text.lastIndexOf("\n", offset - 1) + 1;
      const line = text.slice(from, nextLine(text, offset));
      isCertain &&= text
        .slice(0, from)
        .split("\n")
        .some((above) => above.trimEnd() === line.trimEnd());
      text = text.slice(0, from) + text.slice(from + line.length);
      added -= line.length;
    } else if (/escape|hexadecimal/.test(reason) && backslash >= offset - longestEscape) {
      faults.push(unknownEscape(base + backslash - added));
      text = `${text.slice(0, backslash)}\\${text.slice(backslash)}`;
      added++;
    } else {
      break;
    }
    attempt = load(text);
  }
  if (!("reason" in attempt)) return { attempt, text, faults, isCertain };
  const untabbed = text.includes("\t")
    ? text.replace(/^[ \t]*\t[ \t]*/gm, (tabs) => tabs.replaceAll("\t", "  "))
    : text;
  const retried = untabbed === text ? attempt : load(untabbed);
  if (!("reason" in retried)) {
    const offset = base + source.search(/(?<=^ *)\t/m);
    return { attempt: retried, text: untabbed, faults: [...faults, tabIndent(offset)], isCertain };
  }
  return { attempt: { ...attempt, offset: Math.max(attempt.offset - added, 0) }, text, faults, isCertain };
}

/** End of the last line that is neither blank nor a comment. In quoted and block scalars, such lines are text. */
function valueEnd(text: string, { start, value, end }: YamlBlock): number {
  const isQuoted = text[value] === '"' || text[value] === "'";
  const isBlock = text[value] === "|" || text[value] === ">";
  let stop = start;
  for (let line = start; line < end; line = nextLine(text, line)) {
    const isHash = text[skipBlanks(text, line)] === "#";
    const isText = isHash ? isQuoted || (isBlock && text[line] !== "#") : isBlock || !isBlankOrComment(text, line);
    if (line <= value || isText) stop = Math.min(nextLine(text, line), end);
  }
  return stop;
}

/** Offset of the first continuation line of a quoted value without indentation; -1 if there is none. */
function unindentedLine(text: string, value: number, end: number): number {
  for (let line = nextLine(text, value); line < end; line = nextLine(text, line)) {
    if (!isBlankOrComment(text, line) && skipBlanks(text, line) === line) return line;
  }
  return -1;
}

const mostLinesBelow = 50;

/** Whether the closing quote of a value may be below its block, before the next field. */
function mayCloseBelow(text: string, { value, end }: YamlBlock): boolean {
  const quote = text.charAt(value);
  const raw = text.slice(value, end).trimEnd();
  if ((quote !== '"' && quote !== "'") || (raw.endsWith(quote) && raw.split(quote).length % 2 === 1)) return false;
  for (const line of text.slice(end).split("\n", mostLinesBelow)) {
    const found = yamlKeyAt(line, 0);
    if (found !== undefined && isField(found.key)) return false;
    if (line.split(quote).length % 2 === 0) return true;
  }
  return false;
}

function lineStop(text: string, from: number): number {
  let at = from;
  while (!isLineEnd(text, at)) at++;
  return at;
}

function indentedKey({ key, start, indent }: YamlBlock & { readonly key: string }): Fault {
  return {
    code: "yaml-syntax",
    offset: start + indent,
    end: start + indent + key.length,
    message: `\`${key}\` is indented, so YAML reads it as part of the line above`,
    fix: `Remove the spaces before \`${key}\`.`,
  };
}

function unindentedText(key: string, text: string, offset: number): Fault {
  return {
    code: "yaml-syntax",
    offset,
    end: lineStop(text, offset),
    message: `continuation line of \`${key}\` is not indented`,
    fix: "Indent each continuation line by two spaces.",
  };
}

function unreadKey({ key, start }: YamlBlock & { readonly key: string }): Fault {
  return {
    code: "yaml-syntax",
    offset: start,
    end: start + key.length,
    message: `\`${key}\` is skipped: more than 16 KiB of the frontmatter need a full YAML parser`,
    fix: "Use plain or quoted strings, and move long text below the frontmatter.",
  };
}

function unknownEscape(offset: number): Fault {
  return {
    code: "yaml-syntax",
    offset,
    end: offset + 2,
    message: "unknown escape sequence in double quotes; the backslash is kept",
    fix: "Write two backslashes, or put the value in single quotes.",
  };
}

function tabIndent(offset: number): Fault {
  return {
    code: "yaml-syntax",
    offset,
    message: "tab used for indentation",
    fix: "Indent with spaces.",
  };
}
