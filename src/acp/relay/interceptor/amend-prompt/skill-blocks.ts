import { quoted } from "../../../../base/text/quoted.ts";
import type { Amendment } from "../../../messages/amend.ts";
import { blockText, isRecord, type JsonRecord } from "../../../messages/raw-message.ts";
import type { Negotiation } from "../../../negotiation.ts";
import type { InvocationForm, Invoked } from "../../../skill-service.ts";
import { toInvocationSentence } from "../inserted.ts";
import { toSkillBlock, toText } from "./skill-text.ts";

/** A `skill` content block of a prompt (ACP v2, RFD "Agent Skills"). */
interface SkillBlock {
  readonly index: number;
  /** The name of the skill: a string, if the block is valid. */
  readonly name: unknown;
}

export function findSkillBlocks(prompt: unknown): readonly SkillBlock[] {
  if (!Array.isArray(prompt)) return [];
  return (prompt as unknown[]).flatMap((block, index) => (isSkillBlock(block) ? [{ index, name: block["name"] }] : []));
}

function isSkillBlock(block: unknown): block is JsonRecord {
  return isRecord(block) && block["type"] === "skill";
}

/** JSON-RPC's error for invalid params. */
const invalidParams = -32602;
/** The maximum number of skills that one prompt can invoke: the text of each is read. */
const maxSkills = 64;
const maxNameLength = 128;

/** The error that answers a prompt, which is then not forwarded. */
export interface RefusedPrompt {
  readonly code: number;
  readonly message: string;
}

/**
 * Replaces `skill` blocks like `/name`: by the user's words, then the skill's text. The words of a block at the start are the text after
 * it. If the agent runs a skill itself and takes blocks, the block stays. If it takes none, a single block at the start becomes its
 * command. A prompt with an invalid block is refused as a whole, with the index and the reason.
 */
export async function replaceBlocks(
  prompt: unknown,
  blocks: readonly SkillBlock[],
  { takesResources, ownBlocks }: Pick<Negotiation, "takesResources" | "ownBlocks">,
  invoke: (name: string, form: InvocationForm) => Promise<Invoked | undefined>,
): Promise<readonly Amendment[] | RefusedPrompt> {
  const content = prompt as readonly unknown[];
  const wrong = blocks.find(({ name }) => typeof name !== "string" || name === "" || name.length > maxNameLength);
  // An agent that takes blocks reports invalid blocks itself.
  if (wrong !== undefined && ownBlocks === "nowhere")
    return refuse(wrong, 'a skill block needs the name of a skill: {"type": "skill", "name": "…"}');
  const names = [...new Set(blocks.flatMap(({ name }) => (typeof name === "string" ? [name] : [])))];
  if (names.length > maxSkills)
    return {
      code: invalidParams,
      message: `A prompt can invoke ${maxSkills} skills; this one names ${names.length}.`,
    };
  const passes = ownBlocks !== "nowhere" || (blocks.length === 1 && blocks[0]?.index === 0);
  const found = await Promise.all(names.map((name) => invoke(name, passes ? "block" : "text")));
  const skills = new Map(names.map((name, index) => [name as unknown, found[index]]));
  const words = content.flatMap((block) => blockText(block) ?? []).join("\n");
  const inserted = new Set<string>();
  const amendments: Amendment[] = [];
  for (const block of blocks) {
    const skill = skills.get(block.name);
    if (skill === undefined || "gone" in skill) {
      if (ownBlocks !== "nowhere") continue;
      return refuse(block, `there is no skill ${quoted(String(block.name))} in this session's list of commands`);
    }
    if ("refused" in skill)
      return refuse(
        block,
        `the skill ${quoted(String(block.name))} cannot be invoked: ${skill.refused.replace(/\.$/, "")}`,
      );
    if ("command" in skill) {
      if (ownBlocks === "nowhere") amendments.push(toCommandText(content, skill.command));
      continue;
    }
    const { slug } = skill;
    const added: JsonRecord[] = [];
    if (!inserted.has(slug)) {
      inserted.add(slug);
      added.push(toSkillBlock(slug, toText(skill, words), takesResources));
    }
    amendments.push(replaceBlock(content, block, (said) => `${toInvocationSentence(slug, said)}\n\n`, added));
  }
  // The last block comes first, so that no amendment changes the index of another.
  return amendments.reverse();
}

/** Replaces a block by the agent's own command, with the words after the block. */
function toCommandText(content: readonly unknown[], command: string): Amendment {
  const called = command.startsWith("$") ? command : `/${command}`;
  return replaceBlock(content, { index: 0 }, (said) => (said === "" ? called : `${called} ${said}`), []);
}

/** Replaces a block. A block at the start is replaced together with the next text, unless another `skill` block comes before that. */
function replaceBlock(
  content: readonly unknown[],
  { index: start }: Pick<SkillBlock, "index">,
  toSentence: (words: string) => string,
  added: readonly JsonRecord[],
): Amendment {
  const next = (block: unknown): boolean => blockText(block) !== undefined || isSkillBlock(block);
  const end = start === 0 ? content.findIndex((block, index) => index > 0 && next(block)) : -1;
  const said = blockText(content[end]);
  const path = ["params", "prompt"];
  if (said === undefined)
    return { path, at: start, remove: 1, insert: [{ type: "text", text: toSentence("") }, ...added] };
  const between = content.slice(1, end);
  const sentence = { ...(content[end] as JsonRecord), text: toSentence(said.trimEnd()) };
  return { path, at: 0, remove: end + 1, insert: [sentence, ...added, ...between] };
}

function refuse({ index }: SkillBlock, why: string): RefusedPrompt {
  return { code: invalidParams, message: `prompt/${index}: ${why}. Nothing was sent to the agent.` };
}
