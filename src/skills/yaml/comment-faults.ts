import { mostKeys } from "./plain-yaml.ts";
import { splitYamlBlocks } from "./yaml-blocks.ts";
import type { Fault } from "./yaml.ts";

/** Finds comments that truncate an unquoted value, as in `Issue #5 fixer`. At most one fault per key, and only for text values. */
export function findCommentFaults(text: string, values: Readonly<Record<string, unknown>>): readonly Fault[] {
  if (!/[ \t]#/.test(text)) return [];
  const faults: Fault[] = [];
  for (const { key = "", value: from, end } of splitYamlBlocks(text, mostKeys)) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (typeof value !== "string" || value === "" || "\"'|>".includes(text.charAt(from))) continue;
    const found = commentIn(text, from, end);
    if (found === undefined || value.includes(text.slice(found.offset, found.end))) continue;
    faults.push({
      code: "yaml-comment-in-value",
      ...found,
      message: `\` #\` starts a comment, so the value of \`${key}\` ends before it`,
      fix: "Put the value in single quotes if the text after `#` belongs to it; otherwise move the comment to its own line.",
    });
  }
  return faults;
}

/** The first comment that follows text on its line. */
function commentIn(text: string, from: number, end: number): { offset: number; end: number } | undefined {
  let start = from;
  for (const line of text.slice(from, end).split(/\n|\r(?!\n)/)) {
    const blank = /^[ \t]*#/.test(line) ? -1 : line.search(/[ \t]#/);
    if (blank >= 0) return { offset: start + blank + 1, end: start + line.trimEnd().length };
    start += line.length + 1;
  }
  return undefined;
}
