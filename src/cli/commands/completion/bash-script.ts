import { type CompletedCommand, type CompletedOption, type Values, listNamesCommandLine } from "./table.ts";

/** Works with and without the bash-completion package, and with the bash 3.2 of macOS. */
export function bashScript(commands: readonly CompletedCommand[]): string {
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
