import { type JsonObject, fieldsOf } from "../json.ts";
import { type CommandForm, withoutPrefix } from "./command.ts";

/**
 * JetBrains AIR: `_meta.jetbrains.air.skillPath` on the command of a skill (agentclientprotocol/codex-acp, docs/air-extensions.md, "AIR
 * metadata keys"); we add `kind: "skill"` (ACP.md A-6).
 */
export const readAirCommand: CommandForm = ({ name, description, meta }) => {
  const { kind, skillPath } = airOf(meta);
  return kind === "skill" || typeof skillPath === "string"
    ? { name: withoutPrefix(name), description, command: name, file: airFile(meta), form: "air-command" }
    : undefined;
};

/** The path of a skill's file in the `_meta` of its command. */
export function airFile(meta: JsonObject): string | undefined {
  const { skillPath } = airOf(meta);
  return typeof skillPath === "string" ? skillPath : undefined;
}

function airOf(meta: JsonObject): JsonObject {
  return fieldsOf(fieldsOf(meta["jetbrains"])?.["air"]) ?? {};
}
