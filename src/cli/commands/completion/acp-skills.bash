# bash completion for acp-skills
_acp_skills() {
  local IFS=$'\n'
  COMPREPLY=( $(acp-skills complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1) )
}
complete -o default -F _acp_skills acp-skills
