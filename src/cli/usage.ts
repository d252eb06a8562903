import { parseArgs } from "node:util";
import { nearest } from "../base/text/nearest.ts";
import { oneOf } from "./arguments/values.ts";
import { type Command, type CommandArguments, type Option, type OptionTable, usageError } from "./command.ts";
import { type CommandName, listedCommands } from "./commands/commands.ts";

const help: Option = { type: "boolean", short: "h", help: "Show this help." };

/** Parses arguments by a command's table; `"help"` if `--help` is given. Throws INVALID_OPTIONS for the first error. */
export function parseArguments<Options extends OptionTable>(
  command: Command<Options>,
  argv: readonly string[],
): CommandArguments<Options> | "help" {
  const separator = command.takesRest === true ? argv.indexOf("--") : -1;
  const definitions: OptionTable = { ...command.options, help };
  const { tokens } = parseArgs({
    args: argv.slice(0, separator < 0 ? undefined : separator),
    options: Object.fromEntries(
      Object.entries(definitions).map(([name, { type, short }]) => [name, { type, ...(short && { short }) }]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options: Record<string, boolean | string | string[]> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value } = token;
    const definition = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    if (definition === undefined) {
      const [close] = nearest(rawName.replace(/^-+/, ""), Object.keys(definitions));
      throw usageError(`unknown option ${rawName}${close === undefined ? "" : `; did you mean --${close}?`}`);
    }
    const fault = valueFault(rawName, definition, value, token.inlineValue === true);
    if (fault !== undefined) throw usageError(`${rawName} ${fault}`);
    const before = options[name];
    if (value === undefined) options[name] = true;
    else if (definition.multiple === true) options[name] = Array.isArray(before) ? [...before, value] : [value];
    else options[name] = value;
  }
  if (options["help"] === true) return "help";
  refusePositionals(command, positionals);
  const rest = separator < 0 ? {} : { rest: argv.slice(separator + 1) };
  // The checks above ensure the types of the table.
  return { options, positionals, ...rest } as unknown as CommandArguments<Options>;
}

function valueFault(
  rawName: string,
  { type, value: kind = "", choices }: Option,
  value: string | undefined,
  inline: boolean,
): string | undefined {
  if (type === "boolean") return value === undefined ? undefined : "takes no value";
  const wanted = choices === undefined ? `needs a value: ${rawName} ${kind}` : `needs ${oneOf(choices)}`;
  if (value === undefined || value === "") return wanted;
  if (!inline && /^-./.test(value)) return `${wanted}; write ${rawName}=${value} if you mean it`;
  return choices === undefined || choices.includes(value) ? undefined : `${wanted}, not ${value}`;
}

function refusePositionals({ positionals }: Command, given: readonly string[]): void {
  const { name, minimum, maximum } = positionals ?? { name: "", minimum: 0, maximum: 0 };
  if (given.length < minimum) throw usageError(`missing ${name}`);
  const surplus = given[maximum];
  if (surplus !== undefined) throw usageError(`unexpected argument ${surplus}`);
}

/** What `acp-skills --help` prints. */
export function helpForAll(): string {
  return [
    "Agent Skills for every ACP agent: list, validate and run them.\n",
    "Usage: acp-skills [options] -- AGENT [ARG…]",
    "       acp-skills COMMAND [options]\n",
    section("Commands", columns(listedCommands().map(({ name, summary }) => [name, summary]))),
    section(
      "Options",
      columns([
        ["-h, --help", "Show this help, or that of a command."],
        ["-v, --version", "Show the version."],
      ]),
    ),
    section("Examples", ["acp-skills --skills ./skills -- claude-agent-acp", "acp-skills check", "acp-skills list"]),
    "acp-skills COMMAND --help shows the options of a command; acp-skills wrap --help those before the --.\n",
  ].join("\n");
}

/** What `acp-skills COMMAND --help` prints. */
export function helpForCommand(name: CommandName, { usage, options, examples = [], notes = [] }: Command): string {
  const { summary } = listedCommands().find((listed) => listed.name === name) ?? {};
  const rows = Object.entries({ ...options, help }).map(([option, definition]): [string, string] => [
    optionForm(option, definition),
    definition.help,
  ]);
  const commandLines = examples.map((example) => `acp-skills ${example}`);
  const parts = [
    ...(summary === undefined ? [] : [`${summary}.\n`]),
    `Usage: acp-skills ${usage}\n`,
    section("Options", columns(rows)),
    ...(examples.length === 0 ? [] : [section("Examples", commandLines)]),
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
