import { parseArgs } from "node:util";
import type { Command, Option } from "../commands.ts";
import { nearest } from "../../base/nearest.ts";

type OptionValue<Definition extends Option> = Definition extends { type: "boolean" }
  ? boolean
  : Definition extends { multiple: true }
    ? string[]
    : Definition extends { choices: readonly (infer Choice)[] }
      ? Choice
      : string;

/** What was given to a command; options that were not given are absent. */
export interface Arguments<Given extends Command> {
  readonly options: { readonly [Name in keyof Given["options"]]?: OptionValue<Given["options"][Name]> };
  readonly positionals: readonly string[];
}

/** Why arguments cannot be used, in one line. */
export interface UsageFault {
  readonly usageFault: string;
}

/** Reads arguments by a command's table. The first thing that is wrong is returned, never thrown. */
export function parseArguments<Given extends Command>(
  command: Given,
  argv: readonly string[],
): Arguments<Given> | UsageFault {
  const definitions: Readonly<Record<string, Option>> = command.options;
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      Object.entries(definitions).map(([name, { type, short }]) => [
        name,
        short === undefined ? { type } : { type, short },
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
    const definition = Object.hasOwn(definitions, token.name) ? definitions[token.name] : undefined;
    if (definition === undefined) return { usageFault: unknownOption(token.rawName, Object.keys(definitions)) };
    const fault = valueFault(token.rawName, definition, token.value, token.inlineValue === true);
    if (fault !== undefined) return { usageFault: fault };
    const { value } = token;
    const before = options[token.name];
    if (value === undefined) options[token.name] = true;
    else if (definition.multiple === true) options[token.name] = Array.isArray(before) ? [...before, value] : [value];
    else options[token.name] = value;
  }
  // The table's types are what the checks above made true.
  const given = { options, positionals } as unknown as Arguments<Given>;
  return options["help"] === true ? given : (positionalFault(command, positionals) ?? given);
}

export function isUsageFault(value: object): value is UsageFault {
  return "usageFault" in value;
}

function unknownOption(rawName: string, names: readonly string[]): string {
  const [close] = nearest(rawName.replace(/^-+/, ""), names);
  return `unknown option ${rawName}${close === undefined ? "" : `; did you mean --${close}?`}`;
}

function valueFault(
  rawName: string,
  { type, value: kind, choices }: Option,
  value: string | undefined,
  inline: boolean,
): string | undefined {
  if (type === "boolean") return value === undefined ? undefined : `${rawName} takes no value`;
  const wanted = choices === undefined ? `a ${kind ?? "value"}` : `one of ${choices.join(", ")}`;
  if (value === undefined || value === "") return `${rawName} needs ${wanted}`;
  if (!inline && /^-./.test(value)) return `${rawName} needs ${wanted}; write ${rawName}=${value} if you mean it`;
  if (choices === undefined || choices.includes(value)) return undefined;
  const [close] = nearest(value, choices);
  return `${rawName} needs ${wanted}, not ${value}${close === undefined ? "" : `; did you mean ${close}?`}`;
}

function positionalFault({ positionals }: Command, given: readonly string[]): UsageFault | undefined {
  const { name, minimum, maximum } = positionals ?? { name: "", minimum: 0, maximum: 0 };
  if (given.length < minimum) return { usageFault: `${name} is missing` };
  const surplus = given[maximum];
  return surplus === undefined ? undefined : { usageFault: `unexpected argument ${surplus}` };
}
