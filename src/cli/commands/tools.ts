import { toolDefinitions } from "../../tools/tools.ts";
import { defineCommand } from "../command.ts";
import { jsonText } from "../report/json-text.ts";

export const tools = defineCommand({
  usage: "tools [options]",
  options: {
    format: {
      type: "string",
      choices: ["mcp", "openai", "anthropic", "json-schema"],
      help: "The API whose format is printed. Default: mcp.",
    },
  },
  examples: ["tools --format anthropic"],
  async run({ options: { format = "mcp" } }, terminal) {
    await terminal.print([jsonText(toolDefinitions(format), 2), "\n"]);
    return 0;
  },
});
