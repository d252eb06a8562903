import { type Clock, withinTime } from "../../base/clock.ts";
import { sessionPrompt } from "../../wire/methods.ts";
import type { Amendment } from "../bytes/amend.ts";
import { isRecord, type JsonRecord } from "../bytes/raw-message.ts";
import type { InvokedSkill, ServiceConnection } from "../service/skill-service.ts";
import type { OpenedSession } from "../session/sessions.ts";
import { insertedUri, toInserted, toSentence } from "./inserted.ts";
import { addBlock, toBlock } from "./teaching.ts";

interface PromptsOptions {
  readonly service: Pick<ServiceConnection, "invoke" | "taught">;
  readonly clock: Clock;
  /** Whether lessons about skills are added to prompts. */
  readonly teach: boolean;
  /** Whether `/name` and `$name` at the start of a prompt are replaced by the skill's instructions. */
  readonly invokes: boolean;
}

/** How a prompt is amended; a promise only if skills must be read first. */
type LookAtPrompt = (
  session: OpenedSession,
  method: string,
  params: JsonRecord,
  agent: { readonly takesResources: boolean },
) => readonly Amendment[] | Promise<readonly Amendment[]>;

/** How long a prompt waits for the text of the skill that it invokes. */
const invokingTime = 5_000;
/** How long a session's first prompt waits until the skills were read. */
const readingTime = 2_000;

/** Replaces the invocation of a skill by its instructions, and appends lessons to prompts. */
export function openPrompts({ service, clock, teach, invokes }: PromptsOptions): LookAtPrompt {
  async function invoke(
    invoked: ReturnType<ServiceConnection["invoke"]>,
    invocation: Invocation,
    takesResources: boolean,
  ): Promise<readonly Amendment[]> {
    const skill = await withinTime(Promise.resolve(invoked), clock, invokingTime);
    if (skill === undefined) return [];
    if ("command" in skill) return callByCommand(invocation, skill.command);
    return rewritePrompt(invocation, skill, takesResources);
  }

  function withLesson(
    { opening: { key, lesson } }: OpenedSession,
    prompt: unknown,
    rewritten: readonly Amendment[],
  ): readonly Amendment[] {
    if (lesson.next === undefined) return rewritten;
    const amended = addBlock(prompt, toBlock(lesson.next.text, lesson.next.label), rewritten);
    if (amended === undefined) return rewritten;
    lesson.take((ticket) => {
      service.taught(key, ticket);
    });
    return amended;
  }

  return (session, method, { prompt }, { takesResources }) => {
    const { key, lesson, isTaught } = session.opening;
    const invocation = invokes ? findInvocation(prompt) : undefined;
    // A steering message does not begin a turn.
    const teaches = teach && isTaught && method === sessionPrompt;
    const amend = (rewritten: readonly Amendment[]): readonly Amendment[] =>
      teaches ? withLesson(session, prompt, rewritten) : rewritten;
    if (invocation !== undefined) {
      const { name, sigil } = invocation;
      return invoke(service.invoke(key, name, sigil), invocation, takesResources).then(amend);
    }
    if (!teaches || lesson.isReady || session.hasWaited) return amend([]);
    session.hasWaited = true;
    return withinTime(lesson.ready, clock, readingTime).then(() => amend([]));
  };
}

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

/** `$ARGUMENTS`, `$ARGUMENTS[N]` and `$N`, counted from 0; a backslash escapes them. Does not match `$B$2` of a spreadsheet. */
const placeholder = /(\\)?(?<!\$[A-Za-z]{1,3})\$(?:ARGUMENTS(?:\[(\d{1,3})\])?|(\d{1,3}))(?!\w)/g;

/** The limit for characters added by all placeholders of one skill; further placeholders are kept. */
const mostAdded = 1024 * 1024;

/**
 * Replaces the placeholders in a skill's instructions by the arguments after `/name`, like Claude Code: arguments are split like in a
 * shell, and a placeholder without an argument is kept. Pure; the arguments are never searched for placeholders.
 */
export function fillArguments(instructions: string, words: string): string {
  if (!instructions.includes("$")) return instructions;
  const parts = splitWords(words);
  let added = 0;
  return instructions.replace(placeholder, (whole: string, escaped?: string, index?: string, short?: string) => {
    if (escaped !== undefined) return whole.slice(1);
    const number = index ?? short;
    const value = number === undefined ? words : parts[Number(number)];
    if (value === undefined || (added += value.length) > mostAdded) return whole;
    return value;
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
