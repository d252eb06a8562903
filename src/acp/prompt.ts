import { pathToFileURL } from "node:url";
import type { OfferedSkill } from "../skills/skill.ts";
import type { Amendment } from "./amend.ts";
import { isRecord, type JsonRecord } from "./raw-message.ts";

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

/** Puts a skill's instructions in the place of its call, before the user's own words; every other block stays. */
export function rewritePrompt(
  { place, words, block }: Invocation,
  { skill }: OfferedSkill,
  instructions: Instructions,
  embeddedContext: boolean,
): Amendment[] {
  const text = toText(skill.directory, skill.file, instructions);
  const uri = pathToFileURL(skill.file).href;
  const given = embeddedContext
    ? { type: "resource", resource: { uri, mimeType: "text/markdown", text }, annotations: { audience: ["assistant"] } }
    : { type: "text", text: `Instructions of the skill "${skill.slug}" (${skill.file}):\n\n${text}` };
  const said = words.trim() === "" ? `Use the skill "${skill.slug}".` : words;
  return [{ path: ["params", "prompt"], at: place, remove: 1, insert: [given, { ...block, text: said }] }];
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
