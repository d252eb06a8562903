import type { JsonRecord } from "../../../messages/raw-message.ts";
import type { InvokedSkill } from "../../../skill-service.ts";
import { insertedUri, toInserted } from "../inserted.ts";

/** Converts a skill's text to a block of a prompt. A text block ends with line breaks, for agents that join blocks without any. */
export function toSkillBlock(slug: string, given: string, takesResources: boolean): JsonRecord {
  const text = toInserted("skill", slug, given);
  const annotations = { audience: ["assistant"] };
  return takesResources
    ? { type: "resource", resource: { uri: insertedUri(slug), mimeType: "text/markdown", text }, annotations }
    : { type: "text", text: `${text}\n\n`, annotations };
}

/** Converts a skill to text for the model, with the user's words instead of its placeholders. */
export function toText({ directory, file, instructions }: Omit<InvokedSkill, "slug">, words: string): string {
  const { body, truncated, files, moreFiles } = instructions;
  const parts = [fillArguments(body, words.trim()).trim()];
  if (truncated) parts.push(`(Truncated. The full text is in ${file}.)`);
  parts.push(`Base directory of this skill: ${directory}`);
  if (files.length > 0) {
    const list = files.map((path) => `- ${path}`).join("\n");
    parts.push(`Files in it:\n${list}${moreFiles ? "\n- … and more" : ""}`);
  }
  return `${parts.join("\n\n")}\n`;
}

/** The placeholders `$ARGUMENTS`, `$ARGUMENTS[N]` and `$N`, counted from 0; a backslash escapes them. A spreadsheet's `$B$2` is none. */
const placeholder = /(\\)?(?<!\$[A-Za-z]{1,3})\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d{1,3}))(?!\w)/g;

/** The maximum number of characters that all placeholders of one skill add. Further placeholders stay as they are. */
const maxAddedLength = 1024 * 1024;

/**
 * Replaces the placeholders in a skill's instructions by the arguments after `/name`, like Claude Code. Arguments are split as in a shell.
 * A placeholder without an argument stays as it is. Pure; the arguments are never searched for placeholders.
 */
export function fillArguments(instructions: string, words: string): string {
  if (!instructions.includes("$")) return instructions;
  const parts = splitWords(words);
  let added = 0;
  return instructions.replace(placeholder, (whole: string, escaped?: string, index?: string, short?: string) => {
    if (escaped !== undefined) return whole.slice(1);
    const number = index ?? short;
    const value = number === undefined ? words : parts[Number(number)];
    return value === undefined || (added += value.length) > maxAddedLength ? whole : value;
  });
}

/** Text in quotes is one argument; an unbalanced quote is an ordinary character. */
const word = /(?:\\[^]|"(?:\\[^]|[^"\\])*"|'[^']*'|[^\s\\]|\\$)+/g;
const quoted = /\\([^])|"((?:\\[^]|[^"\\])*)"|'([^']*)'/g;

/** The maximum length of the text that is split. The rest is ignored: longer text is not a list of arguments. */
const maxSplitLength = 64 * 1024;

function splitWords(words: string): string[] {
  return (words.slice(0, maxSplitLength).match(word) ?? []).map((text) =>
    text.replace(quoted, (_whole, escaped?: string, double?: string, single?: string) =>
      double === undefined ? (escaped ?? single ?? "") : double.replace(/\\(["\\$`])/g, "$1"),
    ),
  );
}
