import { withinTime } from "../../../base/clock.ts";
import type { Settings } from "../../../runtime/options.ts";
import { sessionPrompt } from "../../../wire/methods.ts";
import { type Amendment, amendValue } from "../../messages/amend.ts";
import { type JsonRecord, isRecord, recordAt } from "../../messages/raw-message.ts";
import type { Instructions, InvokedSkill, SkillIndex } from "../../skill-service.ts";
import type { Negotiation } from "../../negotiation.ts";
import type { RelayedSession } from "./relayed-session.ts";
import { insertedUri, toInserted, toInvocationSentence } from "./inserted.ts";

/** How long a prompt waits for the text of the skill that it invokes. */
const invokeTimeout = 5_000;
/** How long a session's first prompt waits until the skills were read. */
const readTimeout = 2_000;

/**
 * Replaces the invocation of a skill by its instructions, and appends the index of skills. A promise only if skills must be
 * read first.
 */
export function amendPrompt(
  session: RelayedSession,
  method: string,
  { prompt }: JsonRecord,
  { takesResources }: Pick<Negotiation, "takesResources">,
  { clock, instructModel, announce }: Pick<Settings, "clock" | "instructModel" | "announce">,
): readonly Amendment[] | Promise<readonly Amendment[]> {
  const invocation = announce === "none" ? undefined : findInvocation(prompt);
  // A steering message does not begin a turn.
  const getsIndex = instructModel && session.getsIndex && method === sessionPrompt;
  const withIndex = (amendments: readonly Amendment[]): readonly Amendment[] =>
    getsIndex ? addIndex(session, prompt, amendments) : amendments;
  const waits = getsIndex && !session.isRead && !session.hasWaited;
  if (waits) session.hasWaited = true;
  const read = waits ? session.untilRead(readTimeout) : undefined;
  if (invocation !== undefined) {
    const invoked = session.service.invoke(session.key, invocation.name, invocation.sigil);
    return withinTime(Promise.resolve(invoked), clock, invokeTimeout).then(async (skill) => {
      await read;
      if (skill === undefined) return withIndex([]);
      if ("command" in skill) return withIndex(callByCommand(invocation, skill.command));
      if ("gone" in skill) return withIndex(replaceInvocation(invocation, skill.gone, goneText, takesResources));
      return withIndex(rewritePrompt(invocation, skill, takesResources));
    });
  }
  return read === undefined ? withIndex([]) : read.then(() => withIndex([]));
}

function addIndex(session: RelayedSession, prompt: unknown, amendments: readonly Amendment[]): readonly Amendment[] {
  const { nextIndex } = session;
  const amended = nextIndex && addBlock(prompt, toBlock(nextIndex), amendments);
  if (amended === undefined) return amendments;
  session.indexSent();
  return amended;
}

/** The invocation of a skill in a prompt. */
interface Invocation {
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
 * other fields of this one, are preserved. Placeholders in the instructions are replaced by the arguments. Line breaks separate the blocks for
 * agents that join them without a separator.
 */
export function rewritePrompt(
  invocation: Invocation,
  { slug, directory, file, instructions }: InvokedSkill,
  takesResources: boolean,
): Amendment[] {
  const body = fillArguments(instructions.body, invocation.words.trim());
  return replaceInvocation(invocation, slug, toText(directory, file, { ...instructions, body }), takesResources);
}

const goneText =
  "This skill was deleted while you ran. Do not use what you have read of it; say to the user that it is gone.\n";

function replaceInvocation(
  { place, words }: Invocation,
  slug: string,
  given: string,
  takesResources: boolean,
): Amendment[] {
  const text = toInserted("skill", slug, given);
  const annotations = { audience: ["assistant"] };
  const block = takesResources
    ? { type: "resource", resource: { uri: insertedUri(slug), mimeType: "text/markdown", text }, annotations }
    : { type: "text", text: `${text}\n\n`, annotations };
  return [
    { path: ["params", "prompt", place, "text"], value: `${toInvocationSentence(slug, words.trimEnd())}\n\n` },
    { path: ["params", "prompt"], at: place + 1, remove: 0, insert: [block] },
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

/**
 * The index as a block of a prompt. It is text, which every agent passes on; some keep it out of titles because of its audience. It
 * begins with a line break, because some join blocks without one.
 */
export function toBlock({ text, label }: Omit<SkillIndex, "ticket">): JsonRecord {
  return { type: "text", text: `\n\n${toInserted("index", label, text)}`, annotations: { audience: ["assistant"] } };
}

/**
 * Appends a block to a prompt with amendments: agents look for commands and titles at its beginning. Undefined if it is not a prompt, or
 * is a command of the agent, which would take the block as arguments.
 */
export function addBlock(
  prompt: unknown,
  block: JsonRecord,
  amendments: readonly Amendment[],
): readonly Amendment[] | undefined {
  const sent = amendValue({ params: { prompt } }, amendments);
  if (!Array.isArray(prompt) || isCommand(recordAt(sent, "params")?.["prompt"])) return undefined;
  const path = ["params", "prompt"];
  const at = prompt.length;
  const last = amendments.at(-1);
  // Amendments must not overlap.
  if (last !== undefined && "insert" in last && last.at === at && Array.isArray(last.insert))
    return [...amendments.slice(0, -1), { ...last, insert: [...(last.insert as readonly unknown[]), block] }];
  return [{ path, at, remove: 0, insert: [block] }, ...amendments];
}

function isCommand(prompt: unknown): boolean {
  const first = (Array.isArray(prompt) ? (prompt as unknown[]) : []).find(
    (block) => isRecord(block) && block["type"] === "text",
  );
  return isRecord(first) && typeof first["text"] === "string" && first["text"].trimStart().startsWith("/");
}

/**
 * Adds the index to the system prompt in a request that opens a session, for agents that advertise `systemPrompt`. Undefined if the
 * editor has one in `_meta.systemPrompt`, which Claude would then ignore.
 */
export function addToSystemPrompt({ systemPrompt, _meta }: JsonRecord, index: string): Amendment | undefined {
  const block = { type: "text", text: index };
  if (isRecord(systemPrompt) && Array.isArray(systemPrompt["content"])) {
    const path = ["params", "systemPrompt", "content"];
    return { path, at: systemPrompt["content"].length, remove: 0, insert: [block] };
  }
  const isFree = systemPrompt === undefined || systemPrompt === null;
  if (!isFree || (isRecord(_meta) && _meta["systemPrompt"] !== undefined)) return undefined;
  return { path: ["params", "systemPrompt"], value: { mode: "append", content: [block] } };
}

/** `$ARGUMENTS`, `$ARGUMENTS[N]` and `$N`, counted from 0; a backslash escapes them. Does not match `$B$2` of a spreadsheet. */
const placeholder = /(\\)?(?<!\$[A-Za-z]{1,3})\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d{1,3}))(?!\w)/g;

/** The limit for characters added by all placeholders of one skill; further placeholders stay as they are. */
const mostAdded = 1024 * 1024;

/**
 * Replaces the placeholders in a skill's instructions by the arguments after `/name`, like Claude Code: arguments are split like in a
 * shell, and a placeholder without an argument stays as it is. Pure; the arguments are never searched for placeholders.
 */
export function fillArguments(instructions: string, words: string): string {
  if (!instructions.includes("$")) return instructions;
  const parts = splitWords(words);
  let added = 0;
  return instructions.replace(placeholder, (whole: string, escaped?: string, index?: string, short?: string) => {
    if (escaped !== undefined) return whole.slice(1);
    const number = index ?? short;
    const value = number === undefined ? words : parts[Number(number)];
    return value === undefined || (added += value.length) > mostAdded ? whole : value;
  });
}

/** Text in quotes is one argument; an unbalanced quote is an ordinary character. */
const word = /(?:\\[^]|"(?:\\[^]|[^"\\])*"|'[^']*'|[^\s\\]|\\$)+/g;
const quoted = /\\([^])|"((?:\\[^]|[^"\\])*)"|'([^']*)'/g;

/** The limit for text that is split; longer text is not a list of arguments. */
const longestSplit = 64 * 1024;

function splitWords(words: string): string[] {
  return (words.slice(0, longestSplit).match(word) ?? []).map((text) =>
    text.replace(quoted, (_whole, escaped?: string, double?: string, single?: string) =>
      double === undefined ? (escaped ?? single ?? "") : double.replace(/\\(["\\$`])/g, "$1"),
    ),
  );
}
