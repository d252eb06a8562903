import { withinTime } from "../../../base/clock.ts";
import type { Settings } from "../../../runtime/options.ts";
import { sessionPrompt } from "../../../wire/methods.ts";
import { type Amendment, amendValue } from "../../messages/amend.ts";
import { type JsonRecord, isRecord, recordAt } from "../../messages/raw-message.ts";
import type { InvocationForm, Invoked, InvokedSkill, SkillIndex } from "../../skill-service.ts";
import type { Negotiation } from "../../negotiation.ts";
import type { RelayedSession } from "./relayed-session.ts";
import { toInserted, toInvocationSentence } from "./inserted.ts";
import { type RefusedPrompt, findSkillBlocks, replaceBlocks } from "./amend-prompt/skill-blocks.ts";
import { toSkillBlock, toText } from "./amend-prompt/skill-text.ts";

/** The maximum time, in milliseconds, that a prompt waits for the text of the skill that it invokes. */
const invokeTimeoutMs = 5_000;
/** The maximum time, in milliseconds, that a session's first prompt waits until the skills have been read. */
const readTimeoutMs = 2_000;

/**
 * Replaces the invocations of skills by their instructions, and appends the index of skills. Returns a promise only if skills must be read
 * first.
 */
export function amendPrompt(
  session: RelayedSession,
  method: string,
  { prompt }: JsonRecord,
  negotiation: Pick<Negotiation, "takesResources" | "protocol" | "ownBlocks">,
  { clock, instructModel, announce }: Pick<Settings, "clock" | "instructModel" | "announce">,
): readonly Amendment[] | Promise<readonly Amendment[] | RefusedPrompt> {
  const isOn = announce !== "none";
  const blocks = isOn && negotiation.protocol === 2 ? findSkillBlocks(prompt) : [];
  // Text after a `skill` block at the start belongs to that block, even if it begins like an invocation.
  const invocation = isOn && blocks[0]?.index !== 0 ? findInvocation(prompt) : undefined;
  // A steering message does not begin a turn.
  const getsIndex = instructModel && session.getsIndex && method === sessionPrompt;
  const withIndex = (amendments: readonly Amendment[]): readonly Amendment[] =>
    getsIndex ? addIndex(session, prompt, amendments) : amendments;
  const waits = getsIndex && !session.isRead && !session.hasWaited;
  if (waits) session.hasWaited = true;
  const read = waits ? session.untilRead(readTimeoutMs) : undefined;
  if (invocation === undefined && blocks.length === 0)
    return read === undefined ? withIndex([]) : read.then(() => withIndex([]));
  const invoke: Invoke = async (name, form) => {
    const work = Promise.resolve(session.service.invoke(session.key, name, form)).then((invoked) => ({ invoked }));
    const late = { invoked: { refused: `it was not read within ${invokeTimeoutMs / 1_000} s; send the prompt again` } };
    return ((await withinTime(work, clock, invokeTimeoutMs)) ?? late).invoked;
  };
  const ofBlocks = blocks.length === 0 ? [] : replaceBlocks(prompt, blocks, negotiation, invoke);
  const ofText = invocation === undefined ? [] : replaceWords(invocation, negotiation.takesResources, invoke);
  return Promise.all([ofBlocks, ofText, read]).then(([fromBlocks, fromText]) =>
    "code" in fromBlocks ? fromBlocks : withIndex([...fromBlocks, ...fromText].sort(theLastFirst)),
  );
}

/** Orders amendments from the last index to the first, so that none changes the index of the next one. */
function theLastFirst(a: Amendment, b: Amendment): number {
  return indexOf(b) - indexOf(a);
}

function indexOf(amendment: Amendment): number {
  return "at" in amendment ? amendment.at : Number(amendment.path[2]);
}

type Invoke = (name: string, form: InvocationForm) => Promise<Invoked | undefined>;

async function replaceWords(
  invocation: Invocation,
  takesResources: boolean,
  invoke: Invoke,
): Promise<readonly Amendment[]> {
  const skill = await invoke(invocation.name, invocation.sigil);
  if (skill === undefined || "refused" in skill) return [];
  if ("command" in skill) return callByCommand(invocation, skill.command);
  if ("gone" in skill) return replaceInvocation(invocation, skill.gone, goneText, takesResources);
  return rewritePrompt(invocation, skill, takesResources);
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
  /** The index of the text block in the prompt. */
  readonly index: number;
  /** The name as the user wrote it: a slug or a dotted name. */
  readonly name: string;
  readonly sigil: "/" | "$";
  /** The invocation as it was sent, without arguments: `/pdf`, `$pdf`, `/skill:pdf`. Empty if the editor sent it between tags. */
  readonly typed: string;
  /** The text after the name. */
  readonly words: string;
}

/** The pattern of an invocation. It may begin with blanks, because agents trim prompts before they look for commands. */
const call = /^\s*([/$])(?:skill:)?([a-z0-9]+(?:[.-][a-z0-9]+)*)(?:\s+|$)/;

/** The tags that avante.nvim puts around each text of the user. The text of the current prompt comes first. */
const [openingTag, closingTag] = ["<previous_user_message>", "</previous_user_message>"] as const;

/** Finds `/name` or `$name` at the start of the first text block of a prompt. */
export function findInvocation(prompt: unknown): Invocation | undefined {
  if (!Array.isArray(prompt)) return undefined;
  const index = prompt.findIndex((block) => isRecord(block) && block["type"] === "text");
  const block: unknown = prompt[index];
  const sent = isRecord(block) ? block["text"] : undefined;
  if (typeof sent !== "string") return undefined;
  const isTagged = sent.startsWith(openingTag) && sent.endsWith(closingTag);
  const text = isTagged ? sent.slice(openingTag.length, -closingTag.length) : sent;
  const match = call.exec(text);
  const name = match?.[2];
  if (match === null || name === undefined) return undefined;
  const typed = isTagged ? "" : match[0].trim();
  return { index, name, sigil: match[1] === "$" ? "$" : "/", typed, words: text.slice(match[0].length) };
}

/**
 * Replaces the invocation by a sentence with the user's arguments, and inserts the skill's instructions after it. Placeholders in the
 * instructions are replaced by the arguments. All other blocks, and all other fields of the text block, are preserved. Line breaks
 * separate the blocks for agents that join blocks without a separator.
 */
export function rewritePrompt(invocation: Invocation, skill: InvokedSkill, takesResources: boolean): Amendment[] {
  return replaceInvocation(invocation, skill.slug, toText(skill, invocation.words), takesResources);
}

const goneText =
  "This skill was deleted while you ran. Do not use what you have read of it; say to the user that it is gone.\n";

function replaceInvocation(
  { index, words }: Invocation,
  slug: string,
  given: string,
  takesResources: boolean,
): Amendment[] {
  return [
    { path: ["params", "prompt", index, "text"], value: `${toInvocationSentence(slug, words.trimEnd())}\n\n` },
    { path: ["params", "prompt"], at: index + 1, remove: 0, insert: [toSkillBlock(slug, given, takesResources)] },
  ];
}

/** Rewrites an invocation to the agent's own command for the skill: `$name`, `skill:name`. Empty if the user already sent that command. */
export function callByCommand({ index, words, typed }: Invocation, command: string): Amendment[] {
  const native = command.startsWith("$") ? command : `/${command}`;
  if (typed === native) return [];
  return [{ path: ["params", "prompt", index, "text"], value: words === "" ? native : `${native} ${words}` }];
}

/**
 * Converts the index to a text block of a prompt, because every agent passes text on. Its audience makes some agents omit it from titles.
 * It begins with line breaks, because some agents join blocks without any.
 */
export function toBlock({ text, label }: Omit<SkillIndex, "ticket">): JsonRecord {
  return { type: "text", text: `\n\n${toInserted("index", label, text)}`, annotations: { audience: ["assistant"] } };
}

/**
 * Appends a block to a prompt with amendments, because agents look for commands and titles at the beginning. Undefined if the prompt is no
 * list, or is a command of the agent, which would take the block as arguments.
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
  // Amendments must not overlap.
  const index = amendments.findIndex((amendment) => "insert" in amendment && amendment.at === at);
  const last = amendments[index];
  if (last !== undefined && "insert" in last && Array.isArray(last.insert))
    return amendments.with(index, { ...last, insert: [...(last.insert as readonly unknown[]), block] });
  return [{ path, at, remove: 0, insert: [block] }, ...amendments];
}

function isCommand(prompt: unknown): boolean {
  const first = (Array.isArray(prompt) ? (prompt as unknown[]) : []).find(
    (block) => isRecord(block) && block["type"] === "text",
  );
  return isRecord(first) && typeof first["text"] === "string" && first["text"].trimStart().startsWith("/");
}

/**
 * Adds the index to the system prompt in a request that opens a session, for agents that advertise `systemPrompt`. Undefined if the editor
 * sets `_meta.systemPrompt`, which Claude would then ignore.
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
