import {
  type CompletedCommand,
  type CompletedOption,
  type Values,
  listNamesCommandLine,
  singleQuoted,
} from "./table.ts";

/** Works in a directory of `fpath`, and when it is sourced. */
export function zshScript(commands: readonly CompletedCommand[]): string {
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
