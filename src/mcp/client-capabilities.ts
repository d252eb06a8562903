import { SKILLS_EXTENSION_ID } from "@modelcontextprotocol/server/ext/skills";
import { isObject } from "../base/json/json-value.ts";

/** How the person at the client is asked: by a request of ours, or by a result that asks for input. */
export type AskBy = "request" | "result";

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

/** How a client can be asked during a call: since 2026-07-28 by its result, if the envelope declares forms; before by a request. */
export function howToAsk(envelope: unknown, answersQuestions: boolean): AskBy | undefined {
  if (envelope === undefined) return answersQuestions ? "request" : undefined;
  return showsForms(at(envelope, capabilitiesKey)) ? "result" : undefined;
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
