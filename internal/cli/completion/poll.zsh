#compdef poll
# Completion of poll for zsh: as a file named _poll in a directory of $fpath, or
#     source <(poll completion zsh)
# in ~/.zshrc, after compinit.

_poll() {
  local -a lines described
  local kind start
  lines=("${(@f)$("${(Q)${~words[1]}}" completion --complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  read -r kind start <<<"$lines[1]"
  described=("${(@)lines[2,-1]//:/\\:}")
  described=("${(@)described/$'\t'/:}")
  case $kind in
    rest)
      shift $((start + 1)) words
      ((CURRENT -= start + 1))
      _normal
      ;;
    files)
      ((start)) && compset -p $start
      _files
      ;;
    words)
      ((start)) && compset -p $start
      (($#lines > 1)) && _describe -V -t values 'poll' described
      ;;
    commands)
      (($#lines > 1)) && _describe -t subcommands 'subcommand' described
      _command_names -e
      ;;
  esac
}

if [[ $funcstack[1] == _poll ]]; then
  _poll "$@"
else
  compdef _poll poll
fi
