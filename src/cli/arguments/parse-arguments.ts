import { parseArgs } from "node:util";
import { nearest } from "../../base/nearest.ts";
import type { SkillsError } from "../../errors.ts";
import { usageError } from "../command.ts";
import type { Arguments, Command, Option, OptionTable } from "../command.ts";

const help: Option = { type: "boolean", short: "h", help: "" };

/** Parses arguments by a command's table; `"help"` if `--help` is given. Throws INVALID_OPTIONS for the first error. */
export function parseArguments<Options extends OptionTable>(
  command: Command<Options>,
  argv: readonly string[],
): Arguments<Options> | "help" {
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
    const definition = Object.hasOwn(definitions, token.name) ? definitions[token.name] : undefined;
    if (definition === undefined) throw unknownOption(token.rawName, Object.keys(definitions));
    refuseValue(token.rawName, definition, token.value, token.inlineValue === true);
    const { value } = token;
    const before = options[token.name];
    if (value === undefined) options[token.name] = true;
    else if (definition.multiple === true) options[token.name] = Array.isArray(before) ? [...before, value] : [value];
    else options[token.name] = value;
  }
  if (options["help"] === true) return "help";
  refusePositionals(command, positionals);
  const rest = separator < 0 ? {} : { rest: argv.slice(separator + 1) };
  // The checks above ensure the types of the table.
  return { options, positionals, ...rest } as unknown as Arguments<Options>;
}

function unknownOption(rawName: string, names: readonly string[]): SkillsError {
  const [close] = nearest(rawName.replace(/^-+/, ""), names);
  const advice = close === undefined ? "" : `; did you mean --${close}?`;
  return usageError(`unknown option ${rawName}${advice}`);
}

function refuseValue(
  rawName: string,
  { type, value: kind, choices }: Option,
  value: string | undefined,
  inline: boolean,
): void {
  const refuse = (why: string): never => {
    throw usageError(`${rawName} ${why}`);
  };
  if (type === "boolean") {
    if (value !== undefined) refuse("takes no value");
    return;
  }
  const wanted = choices === undefined ? `a ${kind ?? "value"}` : `one of ${choices.join(", ")}`;
  if (value === undefined || value === "") return refuse(`needs ${wanted}`);
  if (!inline && /^-./.test(value)) refuse(`needs ${wanted}; write ${rawName}=${value} if you mean it`);
  if (choices === undefined || choices.includes(value)) return;
  const [close] = nearest(value, choices);
  refuse(`needs ${wanted}, not ${value}${close === undefined ? "" : `; did you mean ${close}?`}`);
}

function refusePositionals({ positionals }: Command, given: readonly string[]): void {
  const { name, minimum, maximum } = positionals ?? { name: "", minimum: 0, maximum: 0 };
  if (given.length < minimum) throw usageError(`missing ${name}`);
  const surplus = given[maximum];
  if (surplus !== undefined) throw usageError(`unexpected argument ${surplus}`);
}
