import { mostKeys } from "./plain-yaml.ts";
import { splitYamlBlocks } from "./yaml-blocks.ts";
import { isLineEnd } from "./yaml-key.ts";
import type { Fault } from "./yaml.ts";

/**
 * Where a blank and `#` cut an unquoted value short, as in `Issue #5 fixer`: to YAML the rest is a comment, whatever was
 * meant. One fault a key, of those that were read as text.
 */
export function findCommentFaults(text: string, values: Readonly<Record<string, unknown>>): readonly Fault[] {
  if (!/[ \t]#/.test(text)) return [];
  const faults: Fault[] = [];
  for (const { key, value: from, end } of splitYamlBlocks(text, mostKeys)) {
    const value = key === undefined || !Object.hasOwn(values, key) ? undefined : values[key];
    if (key === undefined || typeof value !== "string" || value === "" || "\"'|>".includes(text.charAt(from))) continue;
    const at = commentIn(text, from, end);
    if (at < 0 || value.includes(lineAt(text, at))) continue;
    faults.push({
      code: "yaml-comment-in-value",
      offset: at,
      message: `a blank and # start a comment, so that the value of ${key} ends before it`,
      fix: "If it belongs to the value, put the whole value in single quotes; else write the comment on a line of its own.",
    });
  }
  return faults;
}

/** The `#` of the first comment that stands behind text on its line; -1 where there is none. */
function commentIn(text: string, from: number, end: number): number {
  let isBehindText = false;
  for (let index = from; index < end; index++) {
    const character = text[index];
    if (isLineEnd(text, index)) isBehindText = false;
    else if (character === "#" && (index === from || text[index - 1] === " " || text[index - 1] === "\t")) {
      if (isBehindText) return index;
      index = lineStop(text, index) - 1;
    } else if (character === "#" && !isBehindText) {
      index = lineStop(text, index) - 1;
    } else if (character !== " " && character !== "\t") isBehindText = true;
  }
  return -1;
}

function lineAt(text: string, from: number): string {
  return text.slice(from, lineStop(text, from)).trimEnd();
}

function lineStop(text: string, from: number): number {
  let index = from;
  while (!isLineEnd(text, index)) index++;
  return index;
}
