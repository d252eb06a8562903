import { toolDefinitions } from "../../../runtime/tools.ts";
import { defineCommand, choice } from "../../command.ts";

export const command = defineCommand({
  usage: "tools [options]",
  options: {
    format: choice(["mcp", "openai", "anthropic", "json-schema"], "The API whose format is printed. Default: mcp."),
  },
  examples: ["tools --format anthropic"],
  async run({ options: { format = "mcp" } }, terminal) {
    await terminal.printJson(toolDefinitions(format));
    return 0;
  },
});
