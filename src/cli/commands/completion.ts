import { oneOf } from "../arguments/values.ts";
import { defineCommand, usageError } from "../command.ts";
import { nearest } from "../../base/text/nearest.ts";
import { bashScript } from "./completion/bash-script.ts";
import { fishScript } from "./completion/fish-script.ts";
import { tableOf } from "./completion/table.ts";
import { zshScript } from "./completion/zsh-script.ts";

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const names = Object.keys(shells) as (keyof typeof shells)[];

export const command = defineCommand({
  usage: "completion SHELL",
  positionals: { name: `SHELL: ${oneOf(names)}`, minimum: 1, maximum: 1, values: names },
  options: {},
  examples: [
    "completion bash > ~/.local/share/bash-completion/completions/acp-skills",
    'completion zsh > "${fpath[1]}/_acp-skills"',
    "completion fish > ~/.config/fish/completions/acp-skills.fish",
  ],
  notes: [
    `SHELL is ${oneOf(names)}.`,
    "Completes commands, options and their values, the names of skills of the current directory, editors and tools.",
  ],
  async run({ positionals: [shell = ""] }, terminal, loadAll) {
    const known = names.find((name) => name === shell);
    const [close] = nearest(shell, names);
    if (known === undefined)
      throw usageError(
        `unknown shell ${shell}; ${close === undefined ? `use ${oneOf(names)}` : `did you mean ${close}?`}`,
      );
    const loaded = await loadAll();
    await terminal.print([shells[known](loaded.map(tableOf))]);
    return 0;
  },
});
