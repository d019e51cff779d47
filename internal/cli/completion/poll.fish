# Completion of poll for fish:
#     poll completion fish >~/.config/fish/completions/poll.fish

function __poll_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] completion --complete -- $words[2..] "$current" 2>/dev/null)
    or return
    set -l head (string split ' ' -- $lines[1])
    set -l before (string sub -l $head[2] -- "$current")
    set -l after (string sub -s (math $head[2] + 1) -- "$current")
    switch $head[1]
        case rest
            complete -C (string join ' ' -- (string escape -- $words[(math $head[2] + 2)..]) "$current")
        case files
            for path in (complete -C "__poll_no_command $after")
                printf '%s%s\n' "$before" $path
            end
        case words commands
            for line in $lines[2..]
                printf '%s%s\n' "$before" $line
            end
    end
    if test $head[1] = commands
        complete -C "$current"
    end
end

complete -c poll -f -a '(__poll_complete)'
