import type { Log } from "../../base/log.ts";
import { toWireError } from "../../wire/error-table.ts";
import { readInput } from "../arguments/read-input.ts";
import { cwd, notes, roots, running } from "../arguments/shared-options.ts";
import { callTools } from "../call-tools.ts";
import { defineCommand } from "../command.ts";
import { jsonText } from "../report/json-text.ts";

export const call = defineCommand({
  usage: "call TOOL [INPUT] [options]",
  positionals: { name: "TOOL", minimum: 1, maximum: 2 },
  options: { ...roots, ...running, cwd },
  examples: ["call list_skills", `call describe_skill '{"name": "pdf"}'`, "call run_code @input.json"],
  notes: [
    "INPUT is the tool's input as JSON, @FILE for a file that contains it, or - for stdin. Default: {}.",
    "Prints the result as JSON, also of a run that failed. If the tool refuses: the error as JSON on stderr, exit code 1.",
    "acp-skills tools prints the tools and their parameters.",
    notes.sandbox,
    notes.roots,
    notes.data,
  ],
  async run({ options, positionals: [tool = "", text] }, terminal) {
    const input = await readInput(text, "INPUT", () => terminal.cwd);
    const refuse = (error: unknown, log: Log): void => terminal.echo(`${jsonText(toWireError(error, { log }))}\n`);
    return await callTools(options, terminal, { refuse }, async ({ call: callTool }) => {
      await terminal.print([jsonText(await callTool(tool, input), 2), "\n"]);
      return 0;
    });
  },
});
