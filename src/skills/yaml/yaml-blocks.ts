import { isField } from "../manifest/specification-fields.ts";
import { isLineEnd, quoteEnd, skipBlanks, yamlKeyAt } from "./yaml-key.ts";

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

interface OpenBlock extends Omit<YamlBlock, "end"> {
  /** Whether the value ends on the line of its key, so that another key may follow. */
  readonly isFinished: boolean;
}

/**
 * Splits the text of a mapping into its top-level keys by indentation, also for invalid YAML; at most `most` of them. A
 * quoted value extends to its closing quote regardless of indentation; the name of a field after a complete value is a key.
 */
export function splitYamlBlocks(text: string, most = Infinity): YamlBlock[] {
  const blocks: YamlBlock[] = [];
  let open: OpenBlock | undefined;
  const close = ({ start, key, value, indent }: OpenBlock, end: number): void => {
    blocks.push({ start, end, key, value, indent });
  };
  for (let start = 0, next = 0; start < text.length; start = next) {
    next = nextLine(text, start);
    const found = keyOf(text, start, open);
    if (found === undefined) {
      if (open !== undefined && (open.key === undefined || isContinuation(text, start))) continue;
      if (isBlankOrComment(text, start)) continue;
    }
    if (open !== undefined) close(open, start);
    if (blocks.length >= most) return blocks;
    const quoted = found === undefined ? 0 : quotedEnd(text, found.value);
    const isFinished = found !== undefined && (quoted > 0 ? quoted <= next : isPlainText(text, found.value));
    open = { start, key: found?.key, value: found?.value ?? start, indent: found?.indent ?? 0, isFinished };
    next = Math.max(next, quoted);
  }
  if (open !== undefined) close(open, text.length);
  return blocks;
}

/** The key on a line if it belongs to the top-level mapping, even if it is indented by mistake. */
function keyOf(
  text: string,
  start: number,
  open: OpenBlock | undefined,
): { key: string; value: number; indent: number } | undefined {
  const at = skipBlanks(text, start);
  const indent = at - start;
  if (indent > 0 ? open?.key === undefined || !open.isFinished : isContinuation(text, start)) return undefined;
  const found = yamlKeyAt(text, at);
  if (found === undefined) return undefined;
  const isMeant = indent === 0 || isField(found.key) || open?.key === "name" || open?.indent === indent;
  return isMeant ? { ...found, indent } : undefined;
}

function isPlainText(text: string, value: number): boolean {
  return !isLineEnd(text, value) && !"\"'|>[{&*!#".includes(text.charAt(value));
}

/** The start of the line after the closing quote if nothing else follows the quote; else 0. */
function quotedEnd(text: string, value: number): number {
  if (text[value] !== '"' && text[value] !== "'") return 0;
  let close = quoteEnd(text, value, text.length);
  while (text[value] === "'" && text[close + 1] === "'") close = quoteEnd(text, close + 1, text.length);
  if (close >= text.length) return 0;
  const after = skipBlanks(text, close + 1);
  if (!isLineEnd(text, after) && !(after > close + 1 && text[after] === "#")) return 0;
  for (let line = nextLine(text, value); line <= close; line = nextLine(text, line)) {
    const found = yamlKeyAt(text, line);
    if (found !== undefined && isField(found.key)) return 0;
  }
  return nextLine(text, after);
}

/** Whether a line always belongs to the key above it. */
function isContinuation(text: string, start: number): boolean {
  const first = text.charAt(start);
  if (first === "-") return isLineEnd(text, start + 1) || skipBlanks(text, start + 1) > start + 1;
  return first === "" || " \t#]}\r\n".includes(first);
}

export function isBlankOrComment(text: string, start: number): boolean {
  const first = skipBlanks(text, start);
  return text[first] === "#" || isLineEnd(text, first);
}

export function nextLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed + 1;
}
