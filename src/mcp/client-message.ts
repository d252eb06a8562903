import { SKILLS_EXTENSION_ID } from "@modelcontextprotocol/server/ext/skills";
import { isObject } from "../base/json/json-value.ts";

const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

/** Whether the client declares the Skills extension in this message. */
export function declaresSkillsExtension(message: unknown): boolean {
  return capabilitiesIn(message).some(
    (capabilities) => typeof at(at(capabilities, "extensions"), SKILLS_EXTENSION_ID) === "object",
  );
}

/** Whether the client declares in this message that it shows forms. Before 2025-11-25 and where no mode is named, forms are meant. */
export function declaresForms(message: unknown): boolean {
  return capabilitiesIn(message).some(showsForms);
}

/** The same for the envelope of a request (2026-07-28). */
export function envelopeDeclaresForms(envelope: unknown): boolean {
  return showsForms(at(envelope, capabilitiesKey));
}

function showsForms(capabilities: unknown): boolean {
  const elicitation = at(capabilities, "elicitation");
  return isObject(elicitation) && (at(elicitation, "form") !== undefined || at(elicitation, "url") === undefined);
}

/** `initialize` carries a client's capabilities, and since 2026-07-28 every request does. */
function capabilitiesIn(message: unknown): readonly unknown[] {
  const params = at(message, "params");
  return [at(params, "capabilities"), at(at(params, "_meta"), capabilitiesKey)];
}

/** Whether the answer to this message carries the server's instructions. */
export function asksForInstructions(message: unknown): boolean {
  const method = at(message, "method");
  return method === "initialize" || method === "server/discover";
}

function at(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? (value[key] ?? undefined) : undefined;
}
