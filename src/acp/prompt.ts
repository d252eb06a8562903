import { pathToFileURL } from "node:url";
import type { Amendment } from "./amend.ts";
import { isRecord, type JsonRecord } from "./raw-message.ts";
import type { InvokedSkill } from "./service/skill-service.ts";

/** A skill's text, read at the moment it is used. */
export interface Instructions {
  /** SKILL.md without its frontmatter. */
  readonly body: string;
  /** True when `body` is only the beginning. */
  readonly truncated: boolean;
  /** Files beside SKILL.md, relative to the skill's directory, with `/`. */
  readonly files: readonly string[];
  /** True when `files` is only the beginning. */
  readonly moreFiles: boolean;
  /** When SKILL.md was last changed: milliseconds since 1970. */
  readonly changedAt: number;
}

/** The call of a skill, found in a prompt. */
export interface Invocation {
  /** Which block of the prompt holds it. */
  readonly place: number;
  /** As the user wrote it: a slug or a dotted name. */
  readonly name: string;
  readonly sigil: "/" | "$";
  /** What follows the name. */
  readonly words: string;
  readonly block: JsonRecord;
}

/** Agents trim a prompt before they look for a command, and so do we. */
const call = /^\s*([/$])([a-z0-9]+(?:[.-][a-z0-9]+)*)(?:\s+|$)/;

/** Finds `/name` or `$name` at the start of the first text block of a prompt. */
export function findInvocation(prompt: unknown): Invocation | undefined {
  if (!Array.isArray(prompt)) return undefined;
  const place = prompt.findIndex((block) => isRecord(block) && block["type"] === "text");
  const block: unknown = prompt[place];
  if (!isRecord(block) || typeof block["text"] !== "string") return undefined;
  const match = call.exec(block["text"]);
  const name = match?.[2];
  if (match === null || name === undefined) return undefined;
  return { place, name, sigil: match[1] === "$" ? "$" : "/", words: block["text"].slice(match[0].length), block };
}

/** Puts a skill's instructions before the user's own words; every other block stays, and of this one all but its text. */
export function rewritePrompt(
  { place, words }: Invocation,
  { slug, directory, file, instructions }: InvokedSkill,
  embeddedContext: boolean,
): Amendment[] {
  const text = toText(directory, file, instructions);
  const uri = pathToFileURL(file).href;
  const given = embeddedContext
    ? { type: "resource", resource: { uri, mimeType: "text/markdown", text }, annotations: { audience: ["assistant"] } }
    : { type: "text", text: `Instructions of the skill "${slug}" (${file}):\n\n${text}` };
  const said = words.trim() === "" ? `Use the skill "${slug}".` : words;
  return [
    { path: ["params", "prompt", place, "text"], value: said },
    { path: ["params", "prompt"], at: place, remove: 0, insert: [given] },
  ];
}

function toText(directory: string, file: string, { body, truncated, files, moreFiles }: Instructions): string {
  const parts = [body.trim()];
  if (truncated) parts.push(`(This is only the beginning. The rest is in ${file}.)`);
  parts.push(`Base directory of this skill: ${directory}`);
  if (files.length > 0) {
    const list = files.map((path) => `- ${path}`).join("\n");
    parts.push(`Files in it:\n${list}${moreFiles ? "\n- … and more" : ""}`);
  }
  return `${parts.join("\n\n")}\n`;
}
