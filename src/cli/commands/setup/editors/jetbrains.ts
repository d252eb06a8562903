import path from "node:path";
import { commandAndArgs, createJsonEditor } from "../json-editor.ts";
import { nameWithSkills } from "./agent-names.ts";

/** Custom agents of the AI chat of every JetBrains IDE. Those from its registry are not in this file. */
export const jetbrains = createJsonEditor({
  title: "JetBrains",
  places: ({ home }) => [path.join(home, ".jetbrains", "acp.json")],
  lenient: true,
  holders: ["agent_servers"],
  form: commandAndArgs,
  blank: {},
  nameFor: nameWithSkills,
  next: "Choose this agent in the AI chat of the IDE, and type /.",
});
