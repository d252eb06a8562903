import { type Exchange, sentCommands } from "../exchange.ts";
import { slugOf } from "../rules/command-rules.ts";
import { sentSkillEntries } from "../skill-entries.ts";

/**
 * Invokes skills by blocks with `text`: listed ones where the agent takes them, `preferred` ones first, then unlisted ones. `send`
 * resolves when the turn has ended. Resolves with the first invoked name; undefined if the agent lists no skill entries, or takes no
 * blocks.
 */
export async function invokeSkills(
  exchange: Exchange,
  preferred: (entry: { readonly description: unknown }) => boolean,
  send: (prompt: readonly object[]) => Promise<void>,
  text: string,
): Promise<string | undefined> {
  const allowedPositions = exchange.negotiation?.ownBlocks ?? "nowhere";
  if (allowedPositions === "nowhere") return undefined;
  const words = { type: "text", text };
  const entries = sentSkillEntries(exchange).map(({ command: { name, description } }) => ({ name, description }));
  const names = new Set([...entries.filter(preferred), ...entries].map(({ name }) => name));
  const [first, second = first] = [...names].filter((name) => typeof name === "string");
  if (first !== undefined) {
    await send([skillBlock(first), words]);
    if (allowedPositions === "anywhere") await send([skillBlock(first), words, skillBlock(second), words]);
  }
  for (const name of ["no-such-skill", undefined, null]) await send([skillBlock(name), words]);
  return first;
}

export function skillBlock(name: unknown): object {
  return { type: "skill", name };
}

/** The skills that are entries for an editor which declared skill entries, but no commands for an editor that did not. */
export function missingAsCommands(declared: Exchange, plain: Exchange): readonly unknown[] {
  const commands = new Set(sentCommands(plain).map(({ command }) => slugOf(command)));
  // The name of an agent's own command for a skill may have a prefix.
  const names = new Set(sentSkillEntries(declared).map(({ command }) => slugOf(command)));
  return [...names].filter((name) => !commands.has(name));
}
