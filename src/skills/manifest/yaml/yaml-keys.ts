import { specificationFields } from "../frontmatter.ts";
import type { YamlFault } from "../yaml.ts";

/** One top-level `key: …` of a mapping, with the lines that belong to it. Offsets refer to the whole text. */
export interface YamlBlock {
  readonly start: number;
  readonly end: number;
  /** Undefined for lines that belong to no key. */
  readonly key: string | undefined;
  /** Start of the value, after the colon and whitespace. */
  readonly value: number;
  /** Length of the whitespace before the key; 0 in valid YAML. */
  readonly indent: number;
}

interface OpenBlock extends YamlBlock {
  end: number;
  /** Whether the value ends on the line of its key, so that another key may follow. */
  readonly isFinished: boolean;
}

/** A key, quoted or plain, up to a colon followed by whitespace. YAML does not allow longer implicit keys. */
const keyAndColon =
  /(?:"([^"\\\r\n]{1,1022})"[ \t]*|'([^'\\\r\n]{1,1022})'[ \t]*|(?!-(?:[ \t\r\n]|$)|[ \t#"'[\]{},&*!|>%@`?:])([^\r\n]{1,1024}?)):(?=[ \t\r\n]|$)[ \t]*/y;
/** A line that always belongs to the key above it. */
const continuation = /-(?=[ \t\r\n]|$)|[ \t#\]}\r\n]|$/y;
const blankOrComment = /[ \t]*(?:#|[\r\n]|$)/y;
const plainValue = /[^\r\n"'|>[{&*!#]/y;
const quotedValue = /(?:"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*')(?:[ \t]+#[^\r\n]*|[ \t]*)(?=[\r\n]|$)/y;
/** A line that starts with the name of a field of the specification is never part of a quoted value. */
export const fieldLine = new RegExp(`\\n(?:${specificationFields.join("|")})[ \\t]*:(?=[ \\t\\r\\n]|$)`);

/**
 * Splits the text of a mapping into its top-level keys by indentation, also for invalid YAML; at most `maxBlocks` of them. A quoted
 * value extends to its closing quote regardless of indentation. The name of a field after a complete value is a key.
 */
export function splitYamlBlocks(text: string, maxBlocks = Infinity): YamlBlock[] {
  const blocks: YamlBlock[] = [];
  let open: OpenBlock | undefined;
  for (let start = 0, next = 0; start < text.length; start = next) {
    next = nextLine(text, start);
    const found = keyOf(text, start, open);
    if (found === undefined) {
      if (open !== undefined && (open.key === undefined || matches(continuation, text, start))) continue;
      if (matches(blankOrComment, text, start)) continue;
    }
    if (open !== undefined) open.end = start;
    if (blocks.length >= maxBlocks) return blocks;
    const { key, value = start, indent = 0 } = found ?? {};
    const quoted = key === undefined ? 0 : quotedEnd(text, value);
    const isFinished = key !== undefined && (quoted > 0 ? quoted <= next : matches(plainValue, text, value));
    open = { start, end: text.length, key, value, indent, isFinished };
    blocks.push(open);
    next = Math.max(next, quoted);
  }
  return blocks;
}

/** The key on a line if it belongs to the top-level mapping, even if it is indented by mistake. */
function keyOf(text: string, start: number, open: OpenBlock | undefined) {
  let at = start;
  while (text[at] === " " || text[at] === "\t") at++;
  const indent = at - start;
  if (indent > 0 ? open?.key === undefined || !open.isFinished : matches(continuation, text, start)) return undefined;
  keyAndColon.lastIndex = at;
  const found = keyAndColon.exec(text);
  if (found === null) return undefined;
  const [{ length }, double, single, plain = ""] = found;
  const key = double ?? single ?? plain.trimEnd();
  const isMeant = indent === 0 || specificationFields.includes(key) || open?.key === "name" || open?.indent === indent;
  return isMeant ? { key, value: at + length, indent } : undefined;
}

/** The start of the line after the closing quote if nothing else follows the quote; else 0. */
function quotedEnd(text: string, value: number): number {
  quotedValue.lastIndex = value;
  const [quoted] = quotedValue.exec(text) ?? [];
  return quoted === undefined || fieldLine.test(quoted) ? 0 : nextLine(text, value + quoted.length);
}

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

export function isBlankOrComment(text: string, start: number): boolean {
  return matches(blankOrComment, text, start);
}

export function nextLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed + 1;
}

/**
 * Returns a function that finds the range of a top-level key of a YAML mapping, or of the key `child` inside it. With "value", the range
 * is that of the value if it starts on the line of the key. For an unknown key, it is the start of the text.
 */
export function createKeyRanges(
  text: string,
): (key: string, part: "key" | "value", child?: string) => Pick<YamlFault, "offset" | "end"> {
  const blocks = splitYamlBlocks(text);
  return (key, part, child) => {
    const block = blocks.find((one) => one.key === key);
    if (block === undefined) return { offset: 0 };
    const { start, indent, value, end } = block;
    const inner = child === undefined ? undefined : childRange(text.slice(value, end), child);
    if (inner !== undefined) return { offset: value + inner.offset, end: value + inner.end };
    const first = start + indent;
    const raw = text.slice(value, end).trimEnd();
    if (part === "value" && !/^\r?(?:\n|$)/.test(raw)) return { offset: value, end: value + raw.length };
    return { offset: first, end: first + key.length + (/["']/.test(text.charAt(first)) ? 2 : 0) };
  };
}

/** The range of a key in a nested mapping: with the indentation of the first key, or in a flow mapping. */
function childRange(value: string, child: string): { offset: number; end: number } | undefined {
  const indent = /^(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*([ \t]+)/.exec(value)?.[1] ?? "";
  const name = child.replace(/[^\w-]/g, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`);
  const found = new RegExp(`(?<=(?:^${indent}|[{,][ \\t]*))(["']?)${name}\\1(?=[ \\t]*:(?:\\s|$))`, "mu").exec(value);
  return found === null ? undefined : { offset: found.index, end: found.index + found[0].length };
}
