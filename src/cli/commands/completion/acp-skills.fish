# fish completion for acp-skills
function __acp_skills
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found (acp-skills complete -- $words[2..] "$current" 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path "$current"
  end
end
complete -c acp-skills -f -a '(__acp_skills)'
