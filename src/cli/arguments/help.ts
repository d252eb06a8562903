import type { Command, Option } from "../command.ts";
import { listedCommands } from "../commands.ts";
import type { CommandName } from "../commands.ts";

const help: Option = { type: "boolean", short: "h", help: "Show this help." };

/** What `acp-skills --help` prints. */
export function helpForAll(): string {
  const rows = listedCommands().map(({ name, summary }): [string, string] => [name, summary]);
  const options: [string, string][] = [
    ["-h, --help", "Show this help, or that of a command."],
    ["-v, --version", "Show the version."],
  ];
  return [
    "Agent Skills for every ACP agent: list, validate and run them.\n",
    "Usage: acp-skills [options] -- AGENT [ARG…]",
    "       acp-skills COMMAND [options]\n",
    section("Commands", columns(rows)),
    section("Options", columns(options)),
    section("Examples", ["acp-skills --skills ./skills -- claude-agent-acp", "acp-skills check", "acp-skills list"]),
    "acp-skills COMMAND --help shows the options of a command; acp-skills wrap --help those before the --.\n",
  ].join("\n");
}

/** What `acp-skills COMMAND --help` prints. */
export function helpForCommand(name: CommandName, { usage, options, examples = [], notes = [] }: Command): string {
  const rows = Object.entries({ ...options, help }).map(([option, definition]): [string, string] => [
    optionForm(option, definition),
    definition.help,
  ]);
  const { summary = "" } = listedCommands().find((listed) => listed.name === name) ?? {};
  const parts = [
    `${summary}.\n`,
    `Usage: acp-skills ${usage}\n`,
    section("Options", columns(rows)),
    ...(examples.length === 0
      ? []
      : [
          section(
            "Examples",
            examples.map((example) => `acp-skills ${example}`),
          ),
        ]),
    ...notes,
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `  ${line}\n`).join("")}`;
}

function optionForm(name: string, { short, choices, value }: Option): string {
  const long = short === undefined ? `--${name}` : `-${short}, --${name}`;
  const kind = choices?.join("|") ?? value;
  return kind === undefined ? long : `${long} ${kind}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`);
}
