#compdef acp-skills
_acp_skills() {
  local -a found
  found=( ${(f)"$(acp-skills complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"} )
  found=( ${found//:/\\:} )
  found=( ${found/$'\t'/:} )
  if (( $#found )); then _describe value found; else _files; fi
}
if [[ $funcstack[1] == _acp-skills ]]; then _acp_skills "$@"; else compdef _acp_skills acp-skills; fi
