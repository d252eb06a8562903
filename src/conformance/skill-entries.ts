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

/** A prompt with at least one `skill` block. */
export interface InvokingPrompt extends Request {
  readonly sessionId: unknown;
  /** The blocks with their index in the prompt; a name is whatever was sent. */
  readonly blocks: readonly { readonly index: number; readonly name: unknown }[];
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

/** The names of `skill` entries in each list that was current in a session at some time between two lines. */
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
