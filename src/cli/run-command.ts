import { parseArgs } from "node:util";
import { optionNotes } from "./arguments/shared-options.ts";
import { oneOf } from "./arguments/values.ts";
import { nearest } from "../base/text/nearest.ts";
import { isSkillsError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import { type CommandName, commands, listedCommands, sections } from "./commands/commands.ts";
import {
  type Command,
  type CommandArguments,
  type Option,
  type OptionTable,
  usageError,
  type ExitCode,
  exit,
  exitFor,
} from "./command.ts";
import { errorLines } from "./report/safe-text.ts";
import { type Streams, type Terminal, createTerminal } from "./report/terminal.ts";

/**
 * Runs one command line in the directory and with the environment of this process, and returns its exit status. Loads
 * only the requested command. Commands that speak a protocol (`wrap`, `proxy`, `mcp`, `mcp-bridge`) use the streams of the process.
 */
export async function runCommand(argv: readonly string[], streams: Streams): Promise<ExitCode> {
  let isQuiet = false;
  const terminal = createTerminal(streams, () => isQuiet);
  const [first = "", ...rest] = argv;
  let name: CommandName | undefined;
  try {
    if (first === "--version" || first === "-v") {
      await terminal.print([`${version}\n`]);
      return exit.done;
    }
    if (["help", "--help", "-h"].includes(first)) return await printHelp(rest, terminal);
    if (!isCommandName(first)) refuseUnknown(argv);
    name = isCommandName(first) ? first : "wrap";
    const { command }: { readonly command: Command } = await commands[name][1]();
    const given = parseArguments(command, name === first ? rest : argv, (line) => {
      terminal.note(line);
    });
    isQuiet = given !== "help" && "json" in given.options;
    if (given !== "help") {
      // A command without a connection may wait only for its own timers, which do not keep the process alive.
      const { stayingFor } = await import("../base/promises.ts");
      return await stayingFor(command.run(given, terminal, { listed: listedCommands, load }));
    }
    await terminal.print([helpForCommand(name, command)]);
    return exit.done;
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    const isUsage = error.code === "INVALID_OPTIONS";
    const help = ["acp-skills", ...(name === undefined ? [] : [name]), "--help"].join(" ");
    terminal.note(...errorLines(isUsage ? `${error.message} (see ${help})` : error.message));
    return exitFor(error);
  } finally {
    terminal.progress.done();
  }
}

async function load(name: string): Promise<Command | undefined> {
  return isCommandName(name) ? (await commands[name][1]()).command : undefined;
}

async function printHelp([name]: readonly string[], terminal: Terminal): Promise<ExitCode> {
  if (name === undefined || name.startsWith("-")) await terminal.print([helpForAll()]);
  else if (isCommandName(name)) await terminal.print([helpForCommand(name, (await commands[name][1]()).command)]);
  else throw usageError(unknownCommand(name));
  return exit.done;
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

/** Throws if the command line names neither a command nor an agent. */
function refuseUnknown(argv: readonly string[]): void {
  const [first] = argv;
  if (first === undefined) throw usageError("missing command or agent");
  if (!first.startsWith("-")) {
    const agent = `to run an agent, write: acp-skills -- ${argv.join(" ")}`;
    throw usageError(unknownCommand(first, agent));
  }
  const late = argv.includes("--") ? undefined : argv.find(isCommandName);
  if (late !== undefined) throw usageError(`the command comes first; write: acp-skills ${late} …`);
}

function unknownCommand(name: string, otherwise = ""): string {
  const names = listedCommands().map((command) => command.name);
  const [close] = nearest(name, names);
  const advice = close === undefined ? otherwise : `did you mean ${close}?`;
  return `unknown command ${name}${advice === "" ? "" : `; ${advice}`}`;
}

const help: Option = { type: "boolean", short: "h", help: "Show this help." };

/**
 * Parses arguments by a command's option table; `"help"` if `--help` is given. Former names of options are reported to `note`. Throws
 * INVALID_OPTIONS for the first error.
 */
export function parseArguments<Options extends OptionTable>(
  command: Command<Options>,
  argv: readonly string[],
  note: (line: string) => void = () => undefined,
): CommandArguments<Options> | "help" {
  const separator = command.takesRest === true ? argv.indexOf("--") : -1;
  const definitions: OptionTable = { ...command.options, help };
  const newNames = new Map(
    Object.entries(definitions).flatMap(([name, { formerly }]) => (formerly === undefined ? [] : [[formerly, name]])),
  );
  const { tokens } = parseArgs({
    args: argv.slice(0, separator < 0 ? undefined : separator),
    options: Object.fromEntries(
      Object.entries(definitions).flatMap(([name, { type, short, formerly = name }]) => [
        [formerly, { type }],
        [name, { type, ...(short && { short }) }],
      ]),
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
    const { rawName, value } = token;
    const name = newNames.get(token.name) ?? token.name;
    if (name !== token.name) note(`${rawName} is called --${name} now`);
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

/** The text of `acp-skills --help`. */
function helpForAll(): string {
  const listed = listedCommands();
  const lines = columns(listed.map(({ name, summary }) => [name, summary]));
  const starts = sections.map(({ first }) => listed.findIndex(({ name }) => name === first));
  return [
    "Agent Skills for every ACP agent: list, validate and run them.\n",
    "Usage: acp-skills [options] -- AGENT [ARG…]",
    "       acp-skills COMMAND [options]\n",
    ...sections.map(({ title }, at) => section(title, lines.slice(starts[at], starts[at + 1]))),
    section(
      "Options",
      columns([
        ["-h, --help", "Show this help, or that of a command."],
        ["-v, --version", "Show the version."],
      ]),
    ),
    section("Examples", [
      "acp-skills setup zed",
      "acp-skills --skills ./skills -- claude-agent-acp",
      "acp-skills check",
    ]),
    "acp-skills COMMAND --help shows the options of a command; acp-skills wrap --help those before the --.",
    'Authors of agents and editors: import { withSkills } from "acp-skills"; docs/api.md in the package has all of it.\n',
  ].join("\n");
}

/** The text of `acp-skills COMMAND --help`. */
function helpForCommand(name: CommandName, command: Command): string {
  const { usage = usageOf(name, command), options, examples = [], notes = [] } = command;
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
    ...Object.keys(options).flatMap((option) => optionNotes[option] ?? []),
  ];
  return `${parts.join("\n").trimEnd()}\n`;
}

function usageOf(name: CommandName, { positionals, options }: Command): string {
  const { name: word = "", minimum = 0, maximum = 0 } = positionals ?? {};
  const words = maximum > 1 ? `${word}…` : word;
  const parts = [name, minimum > 0 ? words : words && `[${words}]`, Object.keys(options).length > 0 && "[options]"];
  return parts.filter(Boolean).join(" ");
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
