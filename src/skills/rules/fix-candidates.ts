import { isDeepStrictEqual } from "node:util";
import { withIndent, withoutTabs } from "../yaml/recover-yaml.ts";
import { isField } from "../manifest/specification-fields.ts";
import type { YamlBlock } from "../yaml/yaml-blocks.ts";
import { isLineEnd, skipBlanks, yamlKeyAt } from "../yaml/yaml-key.ts";
import type { Fault, YamlReading } from "../yaml/yaml.ts";

/** What one top-level key of a frontmatter says, and what is wrong with it. */
export interface FaultyBlock {
  readonly block: YamlBlock;
  /** Inside the block, at offsets of the whole text. */
  readonly faults: readonly Fault[];
  /** What the whole text says by that key. */
  readonly value: unknown;
  /** Whether an earlier block has the same key. */
  readonly isRepeated: boolean;
}

/** Whether a fault can be one of the writing; what a comment is, and which kinds of YAML to use, its author decides. */
export function isMendable({ code }: Fault): boolean {
  return code !== "yaml-not-strict" && code !== "yaml-comment-in-value";
}

/**
 * The text that mends a block: one that has fewer of its faults and no other, and by itself says what the block said.
 * Undefined where there is none.
 */
export function mendBlock(
  text: string,
  { block, faults, value, isRepeated }: FaultyBlock,
  read: (text: string) => YamlReading,
): string | undefined {
  const { key, indent } = block;
  if (key === undefined || mayCloseBelow(text, block)) return undefined;
  const stop = valueEnd(text, block);
  const rest = text.slice(stop, block.end);
  if (isRepeated) {
    const again = read(text.slice(block.start + indent, stop));
    return again.faults.length === 0 && isDeepStrictEqual(again.values[key], value) ? rest : undefined;
  }
  const isMeant = (candidate: string, { length }: readonly Fault[]): YamlReading | undefined => {
    const after = read(candidate);
    const counted = after.faults.filter(isMendable);
    return counted.length < length && isDeepStrictEqual(after.values[key], value) ? after : undefined;
  };
  let mended = text.slice(block.start + indent, stop);
  let head = block.value - block.start - indent;
  let left: readonly Fault[] = faults.map((fault) => ({ ...fault, offset: fault.offset - block.start - indent }));
  if (indent > 0) left = left.filter(({ offset }) => offset !== 0);
  let isMended = indent > 0 && isMeant(mended, faults) !== undefined;
  if (indent > 0 && !isMended) return undefined;
  search: while (left.length > 0) {
    for (const candidate of candidates(mended, { head, faults: left, value })) {
      const after = isMeant(candidate, left);
      if (after === undefined) continue;
      mended = candidate;
      left = after.faults;
      isMended = true;
      head = Math.min(head, mended.length);
      continue search;
    }
    break;
  }
  return isMended ? mended + rest : undefined;
}

interface Broken {
  /** The length of what stands before the value. */
  readonly head: number;
  readonly faults: readonly Fault[];
  readonly value: unknown;
}

/** What a block might have been meant to be, most careful first. */
function* candidates(text: string, { head, faults, value }: Broken): Generator<string> {
  const before = text.slice(0, head);
  const raw = text.slice(head);
  const escapes = faults.filter(({ offset }) => text[offset] === "\\");
  if (escapes.length > 0) yield doubled(text, escapes);
  yield withIndent(text);
  yield withoutTabs(text);
  yield withoutRepeatedLines(text, faults);
  // A line of plain text that may be a key of its own is no part of the value without doubt.
  const mayEnd = /^[^"'|>][^]*\n[ \t]*[a-z][\w-]*:(?:[ \t\r\n]|$)/.test(raw);
  if (typeof value !== "string" || mayEnd) return;
  yield before + quoted(raw);
  yield before + quoted(raw.replace(/^["']/, ""));
  yield before + quoted(raw.replace(/^["']/, "").replace(/["'](?=\s*$)/, ""));
  if (/(?:^|\n)[ \t]*#/.test(raw)) return;
  const lineBreak = raw.slice(raw.trimEnd().length);
  yield (
    before + (value.includes("\n") ? literal(value, raw.includes("\r\n") ? "\r\n" : "\n") : inQuotes(value) + lineBreak)
  );
}

function doubled(text: string, faults: readonly Fault[]): string {
  let result = "";
  let from = 0;
  for (const { offset } of faults.toSorted((a, b) => a.offset - b.offset)) {
    result += `${text.slice(from, offset)}\\`;
    from = offset;
  }
  return result + text.slice(from);
}

/** Without the lines at which a key is repeated, where the very same line stands above. */
function withoutRepeatedLines(text: string, faults: readonly Fault[]): string {
  const starts = new Set<number>();
  for (const { code, offset } of faults) {
    if (code === "yaml-duplicate-key") starts.add(text.lastIndexOf("\n", offset - 1) + 1);
  }
  if (starts.size === 0) return text;
  const seen = new Set<string>();
  let at = 0;
  const kept = text.split(/(?<=\n)/).filter((line) => {
    const isRepeated = starts.has(at) && seen.has(line.trimEnd());
    seen.add(line.trimEnd());
    at += line.length;
    return !isRepeated;
  });
  return kept.join("");
}

/** A value in single quotes, which fold its lines as it was folded before. Blanks around it stay outside. */
function quoted(raw: string): string {
  const text = raw.trim();
  const start = raw.length - raw.trimStart().length;
  return raw.slice(0, start) + inQuotes(text) + raw.slice(start + text.length);
}

function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function literal(value: string, lineBreak: string): string {
  const lines = value.split("\n").map((line) => (line === "" ? line : `  ${line}`));
  return ["|-", ...lines, ""].join(lineBreak);
}

/** So many lines are looked at for the end of a quote. */
const mostLinesBelow = 50;

/** Whether a quote with which a value starts may be meant to be closed below its block, before the next field. */
function mayCloseBelow(text: string, { value, end }: YamlBlock): boolean {
  const quote = text.charAt(value);
  if (quote !== '"' && quote !== "'") return false;
  const raw = text.slice(value, end);
  if (raw.trimEnd().endsWith(quote) && raw.split(quote).length % 2 === 1) return false;
  for (let line = end, count = 0; line < text.length && count < mostLinesBelow; count++) {
    const found = yamlKeyAt(text, line);
    if (found !== undefined && isField(found.key)) return false;
    const feed = text.indexOf("\n", line);
    const next = feed < 0 ? text.length : feed + 1;
    if (text.slice(line, next).split(quote).length % 2 === 0) return true;
    line = next;
  }
  return false;
}

/** Where the last line of a block ends that is neither blank nor a comment. */
function valueEnd(text: string, { start, value, end }: YamlBlock): number {
  let stop = start;
  for (let line = start; line < end;) {
    const feed = text.indexOf("\n", line);
    const next = feed < 0 || feed >= end ? end : feed + 1;
    const first = skipBlanks(text, line);
    if (line <= value || !(isLineEnd(text, first) || text[first] === "#")) stop = next;
    line = next;
  }
  return stop;
}
