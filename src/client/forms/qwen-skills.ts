import { type JsonObject, fieldsOf } from "../json.ts";
import { type AdvertisedCommand, isName } from "./command.ts";
import type { SkillOfForm } from "./notification.ts";

/**
 * qwen-code: names in `_meta.availableSkills` of its `available_commands_update`, and `_meta.availableSkillDetails` with `{name,
 * description, body, filePath, level, modelInvocable}` (QwenLM/qwen-code, packages/cli, acp-integration `Session.ts`).
 */
export function readQwenSkills(
  meta: JsonObject | undefined,
  commands: ReadonlyMap<string, AdvertisedCommand>,
): readonly SkillOfForm[] {
  const names = arrayOf(meta?.["availableSkills"]);
  const details = arrayOf(meta?.["availableSkillDetails"]).map((value) => fieldsOf(value) ?? {});
  const detailsByName = new Map(details.map((detail) => [detail["name"], detail]));
  return [...new Set([...names, ...detailsByName.keys()])].filter(isName).map((name) => {
    const { description, filePath } = detailsByName.get(name) ?? {};
    const command = commands.get(name);
    return {
      name,
      description: typeof description === "string" ? description : (command?.description ?? ""),
      command: command?.name,
      file: typeof filePath === "string" ? filePath : undefined,
      form: "qwen-skills",
    };
  });
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
