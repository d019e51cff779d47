package targets

import (
	"fmt"
	"regexp"
	"strings"
)

// ParseCommand checks the words of a command that entries fill: some argument has an [Item],
// the program has none, and none is in a shell's script, which would run what an entry says.
// The error is an [*Error].
func ParseCommand(args []string) (*Template, error) {
	if strings.Contains(args[0], Item) {
		return nil, wrong(0, "without a command, each entry is a URL, or an object with a url or a command",
			"{} is no program: items fill the arguments of a command")
	}
	words := strings.Join(args, "\x00")
	isCmd := regexp.MustCompile(`(?i)(?:^|[/\\:])cmd(?:\.exe)?[. ]*$`).MatchString(args[0]) // whose flags an item may be
	for at := range words {
		if strings.HasPrefix(words[at:], Item) && (isCmd || isInScript(words[:at])) {
			return nil, wrong(0, `give it to the script as an argument: sh -c 'echo "$1"' sh {}`,
				"{} is in the script of a shell, which would run what the items say")
		}
	}
	if !strings.Contains(words, Item) {
		return nil, wrong(0, "put {} where the text of an entry belongs",
			"no argument of the command has a {}, so all targets would be the same")
	}
	return &Template{args: args}, nil
}

// fillCommand puts items into the arguments, wherever these have an [Item]; no other braces count.
// An argument that is one as a whole becomes an argument for each item, any other has them joined by
// commas. One that would begin with "-" only because of an item is refused: it would be read as a
// flag.
func (t *Template) fillCommand(items []string) (command []string, err error) {
	for i, arg := range t.args {
		texts := items
		if arg != Item {
			texts = []string{strings.Join(items, ",")}
		}
		for _, text := range texts {
			filled := strings.ReplaceAll(arg, Item, text)
			isList := t.lists && arg != Item && filled != arg
			switch {
			case isList && len(items) == 1 && strings.Contains(text, ","):
				return nil, fmt.Errorf("argument %d of the command joins entries by commas, and this one holds a comma", i)
			case strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg, "-"):
				return nil, fmt.Errorf("argument %d of the command begins with -, and would be read as a flag", i)
			}
			command = append(command, filled)
		}
	}
	return command, nil
}

// isInScript reports whether what follows is in a script, given the words before it and a part of
// its own, with NUL bytes between them. A script is in or behind a flag of a shell, its other flags
// and the names of options. Other programs run all of their words.
func isInScript(before string) bool {
	const (
		words  = `\x00(?:[^\x00]*\x00)*`
		shells = `sh|bash|rbash|dash|ash|zsh|ksh|ksh93|mksh|yash|csh|tcsh|fish|nu|xonsh|elvish|rc|osh|posh|` +
			`npx|npm|capsh|vagrant|su|runuser|flock|script`
		flag   = `(?:-\w*c[^\x00]*|--(?:init-)?c[omand]*(?:=[^\x00]*)?)`
		behind = `\x00(?:[-+]\w*o[^\x00]*\x00[^\x00]*\x00|[-+][^\x00]+\x00)*[^\x00]*`
	)
	found := func(programs, rest string) bool { // Windows does not see dots and blanks at the end of a name
		return regexp.MustCompile(`(?is)(?:^|[\x00/\\:])(?:` + programs + `)(?:\.exe)?[. ]*` + rest).MatchString(before)
	}
	return found(shells, words+flag+`(?:`+behind+`)?$`) ||
		found(`sg|watch|tmux|hyperfine`, `\x00`) ||
		found(`env`, words+`(?-i:-[i0v]*S|--s[plit]*(?:[-=\x00]|$))`) ||
		found(`cmd`, words+`[^\x00]*/[ckr]`) ||
		found(`powershell|pwsh`, `\x00`) && !found(`powershell|pwsh`, words+`[-/]f(?:i(?:le?)?)?\x00`)
}
