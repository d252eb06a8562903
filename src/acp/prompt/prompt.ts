import type { Amendment } from "../bytes/amend.ts";
import { fillArguments } from "./fill-arguments.ts";
import { insertedUri, toInserted, toSentence } from "./inserted.ts";
import { isRecord } from "../bytes/raw-message.ts";
import type { InvokedSkill } from "../service/skill-service.ts";

/** A skill's text, read when it is used. */
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

/** The invocation of a skill in a prompt. */
export interface Invocation {
  /** The index of its block. */
  readonly place: number;
  /** As the user wrote it: a slug or a dotted name. */
  readonly name: string;
  readonly sigil: "/" | "$";
  /** The invocation as the user wrote it, without arguments: `/pdf`, `$pdf`, `/skill:pdf`. */
  readonly typed: string;
  /** What follows the name. */
  readonly words: string;
}

/** Agents trim prompts before they look for commands. */
const call = /^\s*([/$])(?:skill:)?([a-z0-9]+(?:[.-][a-z0-9]+)*)(?:\s+|$)/;

/** Finds `/name` or `$name` at the start of the first text block of a prompt. */
export function findInvocation(prompt: unknown): Invocation | undefined {
  if (!Array.isArray(prompt)) return undefined;
  const place = prompt.findIndex((block) => isRecord(block) && block["type"] === "text");
  const block: unknown = prompt[place];
  if (!isRecord(block) || typeof block["text"] !== "string") return undefined;
  const match = call.exec(block["text"]);
  const name = match?.[2];
  if (match === null || name === undefined) return undefined;
  const words = block["text"].slice(match[0].length);
  return { place, name, sigil: match[1] === "$" ? "$" : "/", typed: match[0].trim(), words };
}

/**
 * Replaces the invocation by a sentence with the user's arguments and inserts the skill's instructions after it. All other blocks, and all
 * other fields of this one, are kept. Placeholders in the instructions are replaced by the arguments. Line breaks separate the blocks for
 * agents that join them without a separator.
 */
export function rewritePrompt(
  { place, words }: Invocation,
  { slug, directory, file, instructions }: InvokedSkill,
  takesResources: boolean,
): Amendment[] {
  const body = fillArguments(instructions.body, words.trim());
  const text = toInserted("skill", slug, toText(directory, file, { ...instructions, body }));
  const annotations = { audience: ["assistant"] };
  const given = takesResources
    ? { type: "resource", resource: { uri: insertedUri(slug), mimeType: "text/markdown", text }, annotations }
    : { type: "text", text: `${text}\n\n`, annotations };
  return [
    { path: ["params", "prompt", place, "text"], value: `${toSentence(slug, words.trimEnd())}\n\n` },
    { path: ["params", "prompt"], at: place + 1, remove: 0, insert: [given] },
  ];
}

/** Rewrites an invocation to the agent's own command for the skill: `$name`, `skill:name`. Empty if the user wrote that. */
export function callByCommand({ place, words, typed }: Invocation, command: string): Amendment[] {
  const native = command.startsWith("$") ? command : `/${command}`;
  if (typed === native) return [];
  return [{ path: ["params", "prompt", place, "text"], value: words === "" ? native : `${native} ${words}` }];
}

function toText(directory: string, file: string, { body, truncated, files, moreFiles }: Instructions): string {
  const parts = [body.trim()];
  if (truncated) parts.push(`(Truncated. The full text is in ${file}.)`);
  parts.push(`Base directory of this skill: ${directory}`);
  if (files.length > 0) {
    const list = files.map((path) => `- ${path}`).join("\n");
    parts.push(`Files in it:\n${list}${moreFiles ? "\n- … and more" : ""}`);
  }
  return `${parts.join("\n\n")}\n`;
}
