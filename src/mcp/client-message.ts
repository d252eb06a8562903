import { SKILLS_EXTENSION_ID } from "@modelcontextprotocol/server/ext/skills";

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/**
 * Whether the client declares the Skills extension in this message: `initialize` carries its capabilities, and since 2026-07-28 every
 * request does.
 */
export function declaresSkills(message: unknown): boolean {
  const params = at(message, "params");
  return [at(params, "capabilities"), at(at(params, "_meta"), capabilitiesKey)].some(
    (capabilities) => typeof at(at(capabilities, "extensions"), SKILLS_EXTENSION_ID) === "object",
  );
}

/** Whether the answer to this message carries the server's instructions. */
export function asksForInstructions(message: unknown): boolean {
  const method = at(message, "method");
  return method === "initialize" || method === "server/discover";
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[key] ?? undefined;
}
