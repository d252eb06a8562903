import { readFileSync } from "node:fs";
import { packageUrl } from "../../base/paths/location.ts";
import { oneOf } from "../arguments/values.ts";
import { type Command, type Others, defineCommand, usageError, exit } from "../command.ts";
import { nearest } from "../../base/text/nearest.ts";
import { createListing } from "../listing.ts";
import { safeText } from "../report/safe-text.ts";
import type { Terminal } from "../report/terminal.ts";

/**
 * The shells with a completion script. The script asks `acp-skills complete` about the words up to the cursor; if that prints nothing, it
 * completes file names. The bash script works with and without bash-completion, and with bash 3.2 of macOS. The zsh script works in a
 * directory of `fpath` and when it is sourced.
 */
const names = ["bash", "zsh", "fish"] as const;

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
  async run({ positionals: [shell = ""] }, terminal) {
    const known = names.find((name) => name === shell);
    const [close] = nearest(shell, names);
    if (known === undefined)
      throw usageError(
        `unknown shell ${shell}; ${close === undefined ? `use ${oneOf(names)}` : `did you mean ${close}?`}`,
      );
    await terminal.print([readFileSync(packageUrl(`cli/commands/completion/acp-skills.${known}`), "utf8")]);
    return exit.done;
  },
});

/** For completion scripts, prints the candidates for the last word: one a line, a description after a tab; nothing for a file name. */
export const complete = defineCommand({
  usage: "complete -- [WORD…]",
  takesRest: true,
  options: {},
  async run({ rest = [] }, terminal, others) {
    const current = rest.at(-1) ?? "";
    const found = (await candidates(rest.slice(0, -1), current, others, terminal)).filter(([word]) =>
      word.startsWith(current),
    );
    await terminal.print(found.map(([word, about]) => `${word}${about === undefined ? "" : `\t${about}`}\n`));
    return exit.done;
  },
});

type Candidate = readonly [word: string, about?: string];

async function candidates(
  [name, ...given]: readonly string[],
  current: string,
  { listed, load }: Others,
  terminal: Terminal,
): Promise<readonly Candidate[]> {
  const commands = listed().map(({ name, summary }): Candidate => [name, summary]);
  if (name === undefined) return [...commands, ["help"], ["--help"], ["--version"], ["--"]];
  if (name === "help") return commands;
  const command = given.includes("--") ? undefined : await load(name);
  if (command === undefined) return [];
  const options = Object.entries(command.options);
  const previous = given.at(-1);
  const [, option] =
    options.find(([long, { short }]) => previous === `--${long}` || previous === `-${short ?? "-"}`) ?? [];
  if (option?.type === "string") return (option.choices ?? []).map((choice) => [choice]);
  if (current.startsWith("-"))
    return [...options, ["help", { help: "Show this help.", short: "h" }] as const].flatMap(
      ([long, { help, short }]) => [
        [`--${long}`, help] as const,
        ...(short === undefined ? [] : [[`-${short}`, help] as const]),
      ],
    );
  return await namesFor(command, terminal);
}

async function namesFor({ positionals }: Command, terminal: Terminal): Promise<readonly Candidate[]> {
  const values = positionals?.values ?? "files";
  if (values === "files") return [];
  if (values !== "skills") return values.map((value) => [value]);
  const { catalog } = await createListing({}, terminal);
  return catalog.snapshot.skills.map(({ skill }) => [safeText(skill.slug), safeText(skill.description)]);
}
