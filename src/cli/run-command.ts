import { nearest } from "../base/text/nearest.ts";
import { isSkillsError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import { type CommandName, commands, listedCommands } from "./commands/commands.ts";
import { type Command, type ListedCommand, usageError } from "./command.ts";
import { type Streams, type Terminal, createTerminal } from "./report/terminal.ts";
import { helpForAll, helpForCommand, parseArguments } from "./usage.ts";

/**
 * Runs one command line in the directory and with the environment of this process, and returns its exit code: 2 for a usage error. Loads
 * only the requested command. Commands that speak a protocol (`wrap`, `proxy`, `mcp`, `mcp-bridge`) use the streams of the process.
 */
export async function runCommand(argv: readonly string[], streams: Streams): Promise<number> {
  const terminal = createTerminal(streams);
  const [first = "", ...rest] = argv;
  let name: CommandName | undefined;
  try {
    if (first === "--version" || first === "-v") {
      await terminal.print([`${version}\n`]);
      return 0;
    }
    if (["help", "--help", "-h"].includes(first)) return await printHelp(rest, terminal);
    if (!isCommandName(first)) refuseUnknown(argv);
    name = isCommandName(first) ? first : "wrap";
    const { command }: { readonly command: Command } = await commands[name].load();
    const given = parseArguments(command, name === first ? rest : argv);
    if (given !== "help") return await command.run(given, terminal, loadAll);
    await terminal.print([helpForCommand(name, command)]);
    return 0;
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    const isUsage = error.code === "INVALID_OPTIONS";
    const help = ["acp-skills", ...(name === undefined ? [] : [name]), "--help"].join(" ");
    terminal.note(isUsage ? `${error.message} (see ${help})` : error.message);
    return isUsage ? 2 : 1;
  } finally {
    terminal.progress.done();
  }
}

async function loadAll(): Promise<readonly ListedCommand[]> {
  return await Promise.all(
    listedCommands().map(async ({ name, summary }) => {
      const { command }: { readonly command: Command } = await commands[name].load();
      return { name, summary, command };
    }),
  );
}

async function printHelp([name]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name.startsWith("-")) await terminal.print([helpForAll()]);
  else if (isCommandName(name)) await terminal.print([helpForCommand(name, (await commands[name].load()).command)]);
  else throw usageError(unknownCommand(name));
  return 0;
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
