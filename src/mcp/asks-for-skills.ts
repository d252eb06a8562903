import { SKILLS_EXTENSION_ID } from "@modelcontextprotocol/server/ext/skills";

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/**
 * Whether the client that sent a message says in it that it speaks the Skills extension: `initialize` tells what a client is capable of,
 * and since 2026-07-28 every request does.
 */
export function asksForSkills(message: unknown): boolean {
  const params = at(message, "params");
  return [at(params, "capabilities"), at(at(params, "_meta"), capabilitiesKey)].some(
    (capabilities) => typeof at(at(capabilities, "extensions"), SKILLS_EXTENSION_ID) === "object",
  );
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key] ?? undefined;
}
