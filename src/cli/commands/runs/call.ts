import { running } from "../../arguments/running-options.ts";
import { cwd, json, roots } from "../../arguments/shared-options.ts";
import { readInput } from "../../arguments/values.ts";
import { callTools } from "../../call-tools.ts";
import { defineCommand, exit } from "../../command.ts";
import { jsonText } from "../../report/safe-text.ts";
import { toolNames } from "../../../wire/tools.ts";

export const command = defineCommand({
  usage: "call TOOL [INPUT] [options]",
  positionals: { name: "TOOL", minimum: 1, maximum: 2, values: toolNames },
  options: {
    ...roots,
    ...running,
    cwd,
    json: { ...json, help: "Print the result as `result` of an object with a version." },
  },
  examples: ["call list_skills", `call describe_skill '{"name": "pdf"}'`, "call run_code @input.json"],
  notes: [
    "INPUT is the tool's input as JSON, @FILE for a file that contains it, or - for stdin. Default: {}.",
    "Prints the result as JSON, even if a run failed. If the tool refuses, prints the error as JSON on stderr and exits with 2 or 3.",
    "acp-skills tools prints the tools and their parameters.",
  ],
  async run({ options, positionals: [tool = "", text] }, terminal) {
    const input = await readInput(text, "INPUT", terminal.stdin);
    return await callTools(options, terminal, { json: true }, async ({ call }) => {
      const result = await call(tool, input);
      if (options.json === true) await terminal.printJson({ tool, result });
      else await terminal.print([`${jsonText(result, 2)}\n`]);
      return exit.done;
    });
  },
});
