# Completion of poll for bash:
#     eval "$(poll completion bash)"
# in ~/.bashrc, or in a file of
#     ~/.local/share/bash-completion/completions/poll

_poll() {
    # bash breaks words at = : @ and others: they are put together again. at
    # holds where each begins in COMP_WORDS. given is what bash keeps of the last
    # word: all up to the last = or :, or what stands before an @.
    local rest=$COMP_LINE word blank last=-1 given= i
    local -a words=() at=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        blank=' '
        if [[ -n $word ]]; then
            blank=${rest%%"$word"*}
            rest=${rest#"$blank$word"}
        fi
        if [[ -n $blank ]] || ((i == 0)); then
            ((++last))
            words[last]=$word
            at[last]=$i
            given=
        else
            given=${words[last]%@}
            words[last]+=$word
            [[ $word == [=:] ]] && given=${words[last]}
        fi
    done
    ((last > 0)) || return

    local -a lines=() typed=("${words[@]:1:last-1}")
    while IFS= read -r word; do
        lines+=("$word")
    done < <("${words[0]/#\~/$HOME}" completion --complete -- "${typed[@]//[\'\"]/}" "${words[last]}" 2>/dev/null)
    local kind start
    read -r kind start <<<"${lines[0]-}"

    local current=${words[last]}
    COMPREPLY=()
    case $kind in
    rest)
        if declare -F _comp_command_offset >/dev/null; then
            _comp_command_offset "${at[start + 1]}"
        elif declare -F _command_offset >/dev/null; then
            _command_offset "${at[start + 1]}"
        else
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                COMPREPLY+=("$word")
            done < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        fi
        return
        ;;
    files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do
            COMPREPLY+=("${current:0:start}$word")
        done < <(compgen -f -- "${current:start}")
        ;;
    words | commands)
        for word in "${lines[@]:1}"; do
            COMPREPLY+=("${current:0:start}${word%%$'\t'*}")
        done
        ;;
    esac
    if [[ $kind == commands ]]; then
        while IFS= read -r word; do
            COMPREPLY+=("$word")
        done < <(compgen -c -- "$current" | sort -u)
    fi
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=${COMPREPLY[i]#"$given"}
    done
}

complete -F _poll poll
