import type { ListedCommand, Option } from "../../command.ts";

/** What completes a value: one of a list, a name of a skill, or a file. */
export type Values = readonly string[] | "skills" | "files" | "none";

export interface CompletedOption {
  readonly long: string;
  readonly short: string | undefined;
  readonly help: string;
  /** Undefined for a switch. */
  readonly values: Values | undefined;
}

/** What can follow one command. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly positionals: Values;
}

export function tableOf({ name, summary, command: { options, positionals } }: ListedCommand): CompletedCommand {
  const help: Option = { type: "boolean", short: "h", help: "Show this help." };
  return {
    name,
    summary,
    options: Object.entries({ ...options, help }).map(([long, option]) => ({
      long,
      short: option.short,
      help: option.help,
      values: valuesOf(option),
    })),
    positionals: positionals?.values ?? "none",
  };
}

function valuesOf({ type, choices, value = "" }: Option): Values | undefined {
  if (type === "boolean") return undefined;
  if (choices !== undefined) return choices;
  return /\b(?:DIR|FILE|PATH)\b/.test(value) ? "files" : "none";
}

/** Prints the names of skills of the current directory, one a line; nothing if that fails. */
export const listNamesCommandLine = "acp-skills list-names 2>/dev/null";

/** A word or sentence in single quotes, for shells in which only the quote itself is special in them. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
