import { commands } from "../commands.ts";
import type { Command, CommandName, Option } from "../commands.ts";

/** What `acp-skills --help` prints. */
export function helpForAll(): string {
  const others = Object.entries(commands).filter(([name]) => name !== "wrap");
  const rows = others.map(([, { usage, summary }]) => ({ left: `acp-skills ${usage}`, right: summary }));
  return [
    `${commands.wrap.summary}\n`,
    `Usage: acp-skills ${commands.wrap.usage}`,
    ...columns(rows.map(({ left, right }) => [left, right])),
    "",
    ...details(commands.wrap),
    "acp-skills COMMAND --help tells more about a command.",
    "",
  ].join("\n");
}

/** What `acp-skills COMMAND --help` prints. */
export function helpForCommand(name: CommandName): string {
  const command = commands[name];
  return [`${command.summary}\n`, `Usage: acp-skills ${command.usage}`, "", ...details(command)].join("\n");
}

function details({ options, notes }: Command): string[] {
  const rows = Object.entries(options).map(([name, option]): [string, string] => [
    optionForm(name, option),
    option.help,
  ]);
  return ["Options:", ...columns(rows), "", ...notes, ""];
}

function optionForm(name: string, { short, choices, value }: Option): string {
  const long = short === undefined ? `--${name}` : `-${short}, --${name}`;
  const kind = choices?.join("|") ?? value;
  return kind === undefined ? long : `${long} ${kind}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
