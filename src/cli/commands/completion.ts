import { oneOf } from "../arguments/values.ts";
import { defineCommand, usageError, type ListedCommand, type Option, flag } from "../command.ts";
import { nearest } from "../../base/text/nearest.ts";
import { createListing } from "../listing.ts";
import { safeText } from "../report/safe-text.ts";

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const names = Object.keys(shells) as (keyof typeof shells)[];

export const command = defineCommand({
  usage: "completion SHELL",
  positionals: { name: `SHELL: ${oneOf(names)}`, minimum: 1, maximum: 1, values: names },
  options: {},
  examples: [
    "completion bash > ~/.local/share/bash-completion/completions/acp-skills",
    'completion zsh > "${fpath[1]}/_acp-skills"',
    "completion fish > ~/.config/fish/completions/acp-skills.fish",
  ],
  notes: [
    `SHELL is ${oneOf(names)}.`,
    "Completes commands, options and their values, the names of skills of the current directory, editors and tools.",
  ],
  async run({ positionals: [shell = ""] }, terminal, loadAll) {
    const known = names.find((name) => name === shell);
    const [close] = nearest(shell, names);
    if (known === undefined)
      throw usageError(
        `unknown shell ${shell}; ${close === undefined ? `use ${oneOf(names)}` : `did you mean ${close}?`}`,
      );
    const loaded = await loadAll();
    await terminal.print([shells[known](loaded.map(tableOf))]);
    return 0;
  },
});

/** What completes a value: one of a list, a name of a skill, or a file. */
type Values = readonly string[] | "skills" | "files" | "none";

interface CompletedOption {
  readonly long: string;
  readonly short: string | undefined;
  readonly help: string;
  /** Undefined for a switch. */
  readonly values: Values | undefined;
}

/** What can follow one command. */
interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly CompletedOption[];
  readonly positionals: Values;
}

function tableOf({ name, summary, command: { options, positionals } }: ListedCommand): CompletedCommand {
  const help: Option = flag("Show this help.", "h");
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
const listNamesCommandLine = "acp-skills list-names 2>/dev/null";

/** A word or sentence in single quotes, for shells in which only the quote itself is special in them. */
function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Works with and without the bash-completion package, and with the bash 3.2 of macOS. */
function bashScript(commands: readonly CompletedCommand[]): string {
  return `# bash completion for acp-skills
_acp_skills() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" index
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W "${commands.map(({ name }) => name).join(" ")} help --help --version --" -- "$current") )
    return
  fi
  for (( index = 1; index < COMP_CWORD; index++ )); do
    [ "\${COMP_WORDS[index]}" = -- ] && return
  done
  case "$command" in
    help) COMPREPLY=( $(compgen -W "${commands.map(({ name }) => name).join(" ")}" -- "$current") ) ;;
${commands.map(bashCommand).join("\n")}
  esac
}
complete -o default -F _acp_skills acp-skills
`;
}

function bashCommand({ name, options, positionals }: CompletedCommand): string {
  const valued = options.filter(({ values }) => values !== undefined);
  const flags = options.flatMap(({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])]);
  return `    ${name})
      case "$previous" in
${valued.map((option) => `        ${patternOf(option)}) ${bashValues(option.values ?? "none")}; return ;;`).join("\n")}
      esac
      case "$current" in
        -*) COMPREPLY=( $(compgen -W "${flags.join(" ")}" -- "$current") ) ;;
        *) ${bashValues(positionals)} ;;
      esac
      ;;`;
}

function patternOf({ long, short }: CompletedOption): string {
  return short === undefined ? `--${long}` : `--${long}|-${short}`;
}

function bashValues(values: Values): string {
  if (values === "files" || values === "none") return `COMPREPLY=()`;
  const words = values === "skills" ? `$(${listNamesCommandLine})` : values.join(" ");
  return `COMPREPLY=( $(compgen -W "${words}" -- "$current") )`;
}

/** Works in a directory of `fpath`, and when it is sourced. */
function zshScript(commands: readonly CompletedCommand[]): string {
  return `#compdef acp-skills
_acp_skills_names() {
  local -a names
  names=( \${(f)"$(${listNamesCommandLine})"} )
  compadd -a names
}
_acp_skills() {
  local -a commands
  commands=(
${commands.map(({ name, summary }) => `    ${singleQuoted(`${name}:${summary}`)}`).join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if (( \${words[(I)--]} > 0 && \${words[(I)--]} < CURRENT )); then
    _default
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
    help) _describe command commands ;;
${commands.map(zshCommand).join("\n")}
  esac
}
if [[ $funcstack[1] == _acp-skills ]]; then _acp_skills "$@"; else compdef _acp_skills acp-skills; fi
`;
}

function zshCommand({ name, options, positionals }: CompletedCommand): string {
  const specs = [...options.flatMap(zshOption), `'*:${name}:${zshValues(positionals)}'`];
  return `    ${name}) _arguments ${specs.join(" ")} ;;`;
}

function zshOption({ long, short, help, values }: CompletedOption): string[] {
  const description = help.replace(/[[\]:\\]/g, "\\$&");
  const rest = values === undefined ? "" : `:value:${zshValues(values)}`;
  return [`--${long}`, ...(short === undefined ? [] : [`-${short}`])].map((flag) =>
    singleQuoted(`*${flag}[${description}]${rest}`),
  );
}

function zshValues(values: Values): string {
  if (values === "files") return "_files";
  if (values === "none") return "( )";
  return values === "skills" ? "_acp_skills_names" : `(${values.join(" ")})`;
}

function fishScript(commands: readonly CompletedCommand[]): string {
  const all = commands.map(({ name }) => name).join(" ");
  return `# fish completion for acp-skills
complete -c acp-skills -f
${commands.map(({ name, summary }) => `complete -c acp-skills -n "not __fish_seen_subcommand_from ${all}" -a ${name} -d ${word(summary)}`).join("\n")}
${commands.flatMap(fishCommand).join("\n")}
`;
}

function fishCommand({ name, options, positionals }: CompletedCommand): string[] {
  const start = `complete -c acp-skills -n "__fish_seen_subcommand_from ${name}"`;
  const words = fishValues(positionals);
  return [...(words === "" ? [] : [`${start} ${words}`]), ...options.map((option) => `${start} ${fishOption(option)}`)];
}

function fishOption({ long, short, help, values }: CompletedOption): string {
  const flag = short === undefined ? `-l ${long}` : `-s ${short} -l ${long}`;
  const value = values === undefined ? "" : ` -r ${fishValues(values)}`.trimEnd();
  return `${flag}${value} -d ${word(help)}`;
}

function fishValues(values: Values): string {
  if (values === "files") return "-F";
  if (values === "none") return "";
  return `-a ${values === "skills" ? `"(${listNamesCommandLine})"` : word(values.join(" "))}`;
}

/** In single quotes, in which fish knows escapes of the quote and of the backslash. */
function word(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

/** For completion scripts: the names of the skills of the current directory, one a line. Says nothing else. */
export const listNames = defineCommand({
  usage: "list-names",
  options: {},
  async run(_given, terminal) {
    const { catalog } = await createListing({}, terminal);
    await terminal.print(catalog.snapshot.skills.map(({ skill }) => `${safeText(skill.slug)}\n`));
    return 0;
  },
});
