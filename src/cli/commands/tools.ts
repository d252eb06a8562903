import { toolDefinitions } from "../../tools/tool-definitions.ts";
import type { ToolFormat } from "../../tools/tool-definitions.ts";
import { jsonText } from "../report/json-text.ts";
import type { Terminal } from "../report/terminal.ts";

/** `acp-skills tools`: the definitions as a model's API takes them. */
export async function runTools(
  { format = "mcp" }: { readonly format?: ToolFormat },
  terminal: Terminal,
): Promise<number> {
  await terminal.print([jsonText(toolDefinitions(format), 2), "\n"]);
  return 0;
}
