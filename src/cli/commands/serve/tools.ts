import { toolDefinitions } from "../../../runtime/tools.ts";
import { json } from "../../arguments/shared-options.ts";
import { defineCommand, choice, exit } from "../../command.ts";
import { jsonText } from "../../report/safe-text.ts";

export const command = defineCommand({
  options: {
    format: choice(["mcp", "openai", "anthropic", "json-schema"], "The API whose format is printed. Default: mcp."),
    json: { ...json, help: "Print them as `tools` of an object with a version." },
  },
  examples: ["tools --format anthropic"],
  async run({ options: { format = "mcp", json } }, terminal) {
    const tools = toolDefinitions(format);
    await (json === true ? terminal.printJson({ tools }) : terminal.print([`${jsonText(tools, 2)}\n`]));
    return exit.done;
  },
});
