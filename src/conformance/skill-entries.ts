import { type JsonObject, arrayOf, fieldsOf } from "../client/json.ts";
import { sessionPrompt } from "../wire/methods.ts";
import {
  type Exchange,
  type RecordedUpdate,
  type Request,
  commandsIn,
  commandUpdates,
  isSkillEntry,
  sentCommands,
} from "./exchange.ts";

/** Where a prompt may have `skill` blocks, by what the agent advertised. */
export type SkillBlockPlaces = "nowhere" | "first" | "anywhere";

/** A prompt with at least one `skill` block. */
export interface InvokingPrompt extends Request {
  readonly sessionId: unknown;
  /** The blocks, with their place in the prompt; a name is whatever was sent. */
  readonly blocks: readonly { readonly index: number; readonly name: unknown }[];
}

/** Whether an ACP v2 client declared that it understands `skill` entries. */
export function declaresSkillEntries({ negotiation, initialize }: Exchange): boolean {
  return negotiation?.protocol === 2 && namesSkillEntries(initialize?.params);
}

/** Whether the params of `initialize` have the capability for them. */
export function namesSkillEntries(params: unknown): boolean {
  const capabilities = fieldsOf(fieldsOf(params)?.["capabilities"]);
  return fieldsOf(fieldsOf(fieldsOf(capabilities?.["session"])?.["commands"])?.["skill"]) !== undefined;
}

/** What `session.prompt.skill` of an ACP v2 agent allows. */
export function skillBlockPlaces({ negotiation, initialize }: Exchange): SkillBlockPlaces {
  if (negotiation?.protocol !== 2) return "nowhere";
  const capabilities = fieldsOf(fieldsOf(initialize?.response?.result)?.["capabilities"]);
  const skill = fieldsOf(fieldsOf(fieldsOf(capabilities?.["session"])?.["prompt"])?.["skill"]);
  if (skill === undefined) return "nowhere";
  return fieldsOf(skill["inline"]) === undefined ? "first" : "anywhere";
}

/** The `skill` entries of all lists, which exist in ACP v2 only. */
export function sentSkillEntries(exchange: Exchange): ReturnType<typeof sentCommands> {
  return exchange.negotiation?.protocol === 2
    ? sentCommands(exchange).filter(({ command }) => isSkillEntry(command))
    : [];
}

/** The prompts that invoke skills by blocks, which exist in ACP v2 only. */
export function invokingPrompts({ negotiation, requests }: Exchange): readonly InvokingPrompt[] {
  if (negotiation?.protocol !== 2) return [];
  return requests.flatMap((request) => {
    if (request.from !== "client" || request.method !== sessionPrompt) return [];
    const { sessionId, prompt } = fieldsOf(request.params) ?? {};
    const blocks = arrayOf(prompt).flatMap((block, index) => {
      const fields = fieldsOf(block);
      return fields?.["type"] === "skill" ? [{ index, name: fields["name"] }] : [];
    });
    return blocks.length === 0 ? [] : [{ ...request, sessionId, blocks }];
  });
}

/** The `skill` entries of a list. */
export function skillEntriesIn(update: RecordedUpdate): readonly JsonObject[] {
  return commandsIn(update).flatMap(({ command }) => (isSkillEntry(command) ? [command] : []));
}

/** The names of `skill` entries in each list that was a session's current one at some time between two lines. */
export function listedNames(
  exchange: Exchange,
  sessionId: unknown,
  [from, to]: readonly [number, number],
): readonly ReadonlySet<unknown>[] {
  const lists = commandUpdates(exchange).filter((update) => update.sessionId === sessionId && update.line <= to);
  const before = lists.findLast(({ line }) => line < from);
  const after = lists.filter(({ line }) => line >= from);
  return [before, ...after].map(
    (update) => new Set(update === undefined ? [] : skillEntriesIn(update).map(({ name }) => name)),
  );
}
