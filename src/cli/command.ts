import { SkillsError } from "../base/errors.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./report/terminal.ts";

export { type ExitCode, exit, exitFor } from "./exit-code.ts";

/** One option, as the parser and `--help` need it. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** The placeholder of the value in `--help`. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly help: string;
  /** The earlier name of the option, accepted with a warning until 0.2. */
  readonly formerly?: string;
}

/** An option without a value. */
export function flag(help: string, short?: string): { readonly type: "boolean"; readonly help: string } {
  return { type: "boolean", help, ...(short !== undefined && { short }) };
}

export interface TextOption {
  readonly type: "string";
  readonly value: string;
  readonly help: string;
}

/** An option with one value, which `--help` calls `value`. */
export function text(value: string, help: string): TextOption {
  return { type: "string", value, help };
}

/** An option that may be given several times. */
export function texts(value: string, help: string): TextOption & { readonly multiple: true } {
  return { type: "string", multiple: true, value, help };
}

/** An option whose value is one of a list. */
export function choice<const Choices extends readonly string[]>(
  choices: Choices,
  help: string,
): { readonly type: "string"; readonly choices: Choices; readonly help: string } {
  return { type: "string", choices, help };
}

export type OptionTable = Readonly<Record<string, Option>>;

type OptionValue<Definition extends Option> = Definition extends { type: "boolean" }
  ? boolean
  : Definition extends { multiple: true }
    ? readonly TextOf<Definition>[]
    : TextOf<Definition>;

type TextOf<Definition extends Option> = Definition extends { choices: readonly (infer Choice)[] } ? Choice : string;

/** The values of the options; absent if not given. */
export type OptionValues<Options extends OptionTable> = {
  readonly [Name in keyof Options]?: OptionValue<Options[Name]>;
};

/** The arguments of a command, parsed. */
export interface CommandArguments<Options extends OptionTable> {
  readonly options: OptionValues<Options>;
  readonly positionals: readonly string[];
  /** The words after `--`, for commands with `takesRest`; undefined without a `--`. */
  readonly rest?: readonly string[];
}

export interface Command<Options extends OptionTable = OptionTable> {
  /** The text after `acp-skills` in the usage line. Default: the command's name, its positionals and `[options]`. */
  readonly usage?: string;
  readonly positionals?: {
    readonly name: string;
    readonly minimum: number;
    readonly maximum: number;
    /** The possible words, or their kind, for completion. */
    readonly values?: readonly string[] | "skills" | "files";
  };
  /** Whether the words after `--` are passed on separately. Otherwise they are positionals. */
  readonly takesRest?: boolean;
  /** The options besides `--help`, which every command has. */
  readonly options: Options;
  /** Command lines, without the leading `acp-skills`. */
  readonly examples?: readonly string[];
  /** Lines at the end of `--help`. */
  readonly notes?: readonly string[];
  /** Runs the command. Throws INVALID_OPTIONS for a usage error before it does anything. */
  run(given: CommandArguments<Options>, terminal: Terminal, others: Others): Promise<ExitCode>;
}

/** The table of commands, for commands that describe others. */
export interface Others {
  /** The public commands. */
  readonly listed: () => readonly { readonly name: string; readonly summary: string }[];
  readonly load: (name: string) => Promise<Command | undefined>;
}

/** Infers the types of the arguments of `run` from the options. */
export function defineCommand<const Options extends OptionTable>(command: Command<Options>): Command<Options> {
  return command;
}

/** The error for an invalid command line, which `run` throws before it does anything. */
export function usageError(message: string): SkillsError {
  return new SkillsError("INVALID_OPTIONS", message);
}
