import { nearest } from "../base/nearest.ts";
import { isSkillsError, SkillsError } from "../errors.ts";
import { helpForAll, helpForCommand } from "./arguments/help.ts";
import { parseArguments } from "./arguments/parse-arguments.ts";
import { commands, listedCommands } from "./commands.ts";
import type { CommandName } from "./commands.ts";
import { usageError } from "./command.ts";
import type { Command } from "./command.ts";
import { openTerminal } from "./report/terminal.ts";
import type { Terminal } from "./report/terminal.ts";

/** Runs one command line and returns its exit code: 2 for a usage error. Loads only the requested command. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const terminal = openTerminal();
  const [first = "", ...rest] = argv;
  try {
    if (first === "--version" || first === "-v") {
      const { version } = await import("../base/version.ts");
      await terminal.print([`${version}\n`]);
      return 0;
    }
    if (["help", "--help", "-h"].includes(first)) return await printHelp(rest, terminal);
    if (isCommandName(first)) return await runNamed(first, rest, terminal);
    refuseStray(argv);
    return await runNamed("wrap", argv, terminal);
  } catch (error) {
    if (!isSkillsError(error)) throw error;
    if (error.code !== "INVALID_OPTIONS") {
      terminal.tell(error.message);
      return 1;
    }
    const { command } = error.facts;
    terminal.tell(`${error.message} (see acp-skills ${typeof command === "string" ? `${command} ` : ""}--help)`);
    return 2;
  } finally {
    terminal.progress.done();
  }
}

async function runNamed(name: CommandName, argv: readonly string[], terminal: Terminal): Promise<number> {
  const command: Command = await commands[name].load();
  try {
    const given = parseArguments(command, argv);
    if (given !== "help") return await command.run(given, terminal);
    await terminal.print([helpForCommand(name, command)]);
    return 0;
  } catch (error) {
    if (!isSkillsError(error) || error.code !== "INVALID_OPTIONS") throw error;
    throw new SkillsError(error.code, error.message, { cause: error, facts: { command: name } });
  }
}

async function printHelp([name]: readonly string[], terminal: Terminal): Promise<number> {
  if (name === undefined || name.startsWith("-")) await terminal.print([helpForAll()]);
  else if (isCommandName(name)) await terminal.print([helpForCommand(name, await commands[name].load())]);
  else throw usageError(unknownCommand(name));
  return 0;
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

/** Throws if the command line names neither a command nor an agent. */
function refuseStray(argv: readonly string[]): void {
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
  const [close] = nearest(
    name,
    listedCommands().map((command) => command.name),
  );
  const advice = close === undefined ? otherwise : `did you mean ${close}?`;
  return `unknown command ${name}${advice === "" ? "" : `; ${advice}`}`;
}
