import { commands } from "./commands.ts";
import type { Command, CommandName } from "./commands.ts";
import { isSkillsError } from "../errors.ts";
import { isUsageFault, parseArguments } from "./arguments/parse-arguments.ts";
import type { Arguments, UsageFault } from "./arguments/parse-arguments.ts";

/** The exit code. Only what the command at hand needs is loaded: an agent must be started, and a list printed, without delay. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  return await run(argv).catch(explain);
}

/** What we refuse is a sentence; only a fault of ours has a stack. */
async function explain(error: unknown): Promise<number> {
  if (!isSkillsError(error)) throw error;
  (await openTerminal()).tell(error.message);
  return 1;
}

async function run(argv: readonly string[]): Promise<number> {
  const [name = "", ...rest] = argv;
  switch (name) {
    case "list":
      return await withArguments(name, commands.list, rest, async (given) => {
        const { runList } = await import("./commands/list.ts");
        return await runList(given.options, await openTerminal());
      });
    case "show":
      return await withArguments(name, commands.show, rest, async ({ options, positionals: [wanted = ""] }) => {
        const { runShow } = await import("./commands/show.ts");
        return await runShow(wanted, options, await openTerminal());
      });
    case "check":
      return await withArguments(name, commands.check, rest, async ({ options, positionals }) => {
        const { runCheck } = await import("./commands/check/check.ts");
        return await runCheck(positionals, options, await openTerminal());
      });
    case "help":
      return await tellAbout(rest);
    case "mcp":
      return await withArguments(name, commands.mcp, rest, async ({ options }) => {
        const { runMcp } = await import("./commands/mcp.ts");
        return await runMcp(options);
      });
    case "call":
      return await withArguments(name, commands.call, rest, async ({ options, positionals: [tool = "", input] }) => {
        const { runCall } = await import("./commands/call.ts");
        return await runCall(tool, input, options, await openTerminal());
      });
    case "run":
      return await withArguments(name, commands.run, rest, async ({ options, positionals: [wanted = ""] }) => {
        const { runRun } = await import("./commands/run.ts");
        return await runRun(wanted, options, await openTerminal());
      });
    case "install":
      return await withArguments(name, commands.install, rest, async ({ options, positionals: [wanted = ""] }) => {
        const { runInstall } = await import("./commands/install.ts");
        return await runInstall(wanted, options, await openTerminal());
      });
    case "doctor":
      return await withArguments(name, commands.doctor, rest, async ({ options }) => {
        const { runDoctor } = await import("./commands/doctor.ts");
        return await runDoctor(options, await openTerminal());
      });
    case "tools":
      return await withArguments(name, commands.tools, rest, async ({ options }) => {
        const { runTools } = await import("./commands/tools.ts");
        return await runTools(options, await openTerminal());
      });
    case "blobs":
      return await withArguments(
        name,
        commands.blobs,
        rest,
        async ({ options, positionals: [action = "", ...ids] }) => {
          const { runBlobs } = await import("./commands/blobs.ts");
          return await runBlobs(action, ids, options, await openTerminal());
        },
      );
    case "ledger":
      return await withArguments(name, commands.ledger, rest, async ({ options }) => {
        const { runLedger } = await import("./commands/ledger.ts");
        return await runLedger(options, await openTerminal());
      });
    case "mcp-bridge": {
      const { runMcpBridge } = await import("./commands/mcp-bridge.ts");
      return await runMcpBridge(rest);
    }
    default:
      return await wrap(argv);
  }
}

async function wrap(argv: readonly string[]): Promise<number> {
  const separator = argv.indexOf("--");
  const own = separator < 0 ? argv : argv.slice(0, separator);
  const [command, ...args] = separator < 0 ? [] : argv.slice(separator + 1);
  const given = parseArguments(commands.wrap, own);
  if (isUsageFault(given)) {
    const { explainStray } = await import("./commands/check/explain-stray.ts");
    return await refuse(explainStray(own) ?? given.usageFault);
  }
  if (given.options.help === true) {
    return await tellAbout(given.positionals);
  }
  if (given.options.version === true) {
    const { version } = await import("../base/version.ts");
    return await print(`${version}\n`);
  }
  if (command === undefined) return await refuse(`no agent to run; write: acp-skills ${commands.wrap.usage}`);
  if (command === "") return await refuse("the agent's command is empty");
  const { runWrap } = await import("./commands/wrap.ts");
  const done = await runWrap(command, args, given.options);
  return typeof done === "number" ? done : await refuse(done.usageFault);
}

/** Help for the first command that is named, or for all. */
async function tellAbout([name]: readonly string[]): Promise<number> {
  const { helpForAll, helpForCommand } = await import("./arguments/help.ts");
  if (name === undefined || name.startsWith("-")) return await print(helpForAll());
  if (isCommandName(name)) return await print(helpForCommand(name));
  const { explainStray } = await import("./commands/check/explain-stray.ts");
  return await refuse(explainStray([name]) ?? `unknown command ${name}`);
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}

async function withArguments<Given extends Command>(
  name: Exclude<CommandName, "wrap">,
  command: Given,
  argv: readonly string[],
  perform: (given: Arguments<Given>) => Promise<number | UsageFault>,
): Promise<number> {
  const given = parseArguments(command, argv);
  if (isUsageFault(given)) return await refuse(given.usageFault, name);
  const { help }: { readonly help?: unknown } = given.options;
  if (help !== true) {
    const done = await perform(given);
    return typeof done === "number" ? done : await refuse(done.usageFault, name);
  }
  const { helpForCommand } = await import("./arguments/help.ts");
  return await print(helpForCommand(name));
}

async function refuse(fault: string, command?: string): Promise<number> {
  const terminal = await openTerminal();
  terminal.tell(`${fault} (see acp-skills ${command === undefined ? "" : `${command} `}--help)`);
  return 2;
}

async function print(text: string): Promise<number> {
  const terminal = await openTerminal();
  await terminal.print([text]);
  return 0;
}

async function openTerminal() {
  const terminal = await import("./report/terminal.ts");
  return terminal.openTerminal();
}
