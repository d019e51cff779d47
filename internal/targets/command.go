package targets

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ParseCommand checks the words of a command that entries fill: some argument has an [Item],
// the program has none, and none is in a shell's script, which would run what an entry says.
// The error is a [*TemplateError].
func ParseCommand(args []string) (*Template, error) {
	if strings.Contains(args[0], Item) {
		return nil, &TemplateError{"{} is no program: items fill the arguments of a command",
			"without a command, each entry is a URL, or an object with a url or a command"}
	}
	before := seen{all: programName(args[0]) == "cmd"} // whose flags an item may be
	for _, arg := range args {
		if before.isCode(arg) && strings.Contains(arg, Item) {
			return nil, &TemplateError{"{} is in the script of a shell, which would run what the items say",
				`give it to the script as an argument: sh -c 'echo "$1"' sh {}`}
		}
	}
	if !strings.Contains(strings.Join(args, " "), Item) {
		return nil, &TemplateError{"no argument of the command has a {}, so all targets would be the same",
			"put {} where the text of an entry belongs"}
	}
	return &Template{args: args}, nil
}

// fillCommand puts items into the arguments.
func (t *Template) fillCommand(items []string) (command []string, err error) {
	for i, arg := range t.args {
		filled, err := putItems(arg, items)
		if joined := t.lists && arg != Item && strings.Contains(arg, Item); joined && len(items) == 1 && strings.Contains(items[0], ",") {
			err = errors.New("joins entries by commas, and this one holds a comma")
		}
		if err != nil {
			return nil, fmt.Errorf("argument %d of the command %w", i, err)
		}
		command = append(command, filled...)
	}
	return command, nil
}

// putItem puts an item into an argument wherever that has [Item]. No other braces count. An
// argument that would begin with "-" only because of the item is refused: it would be
// read as a flag.
func putItem(arg, item string) (string, error) {
	filled := strings.ReplaceAll(arg, Item, item)
	if strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg, "-") {
		return "", errors.New("begins with -, and would be read as a flag")
	}
	return filled, nil
}

// putItems puts items into an argument: one that is an [Item] as a whole becomes an argument
// for each of them, any other has them joined by commas.
func putItems(arg string, items []string) ([]string, error) {
	if arg != Item {
		filled, err := putItem(arg, strings.Join(items, ","))
		return []string{filled}, err
	}
	args := make([]string, len(items))
	for i, item := range items {
		var err error
		if args[i], err = putItem(arg, item); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// The flags with a script behind them, or in them.
var (
	shellFlag = regexp.MustCompile(`^-\w*[cC]|^--(init-)?c[omand]*(=|$)`)
	envFlag   = regexp.MustCompile(`^-[i0v]*S|^--s[plit]*(-|=|$)`)
	cmdFlag   = regexp.MustCompile(`(?i)/[ckr]`)

	nameFlag = regexp.MustCompile(`^[-+]\w*[oO]`)          // the name of a shell's option is behind it
	fileFlag = regexp.MustCompile(`(?i)^[-/]f(i(le?)?)?$`) // a file is behind it, where a script would be
)

// seen is what is known of the words of a command before one.
type seen struct {
	shell, env, cmd, powershell bool // there is such a program
	script, name                bool // the next word is one, unless it is a flag or the name of an option
	all                         bool // each word is in a script
}

// isCode takes the next word, and reports whether an item in it is in a script.
func (s *seen) isCode(word string) bool {
	isFlag := len(word) > 1 && strings.ContainsAny(word[:1], "-+")
	isShellFlag := s.shell && shellFlag.MatchString(word)
	isScript := s.script && !isFlag && !s.name
	s.script = isShellFlag || s.script && !isScript
	s.name = nameFlag.MatchString(word)
	s.powershell = s.powershell && !fileFlag.MatchString(word)
	s.all = s.all || s.env && envFlag.MatchString(word) || s.cmd && cmdFlag.MatchString(word)
	isCode := s.all || s.powershell || isScript || isShellFlag
	switch programName(word) {
	case "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "yash", "csh", "tcsh", "fish",
		"nu", "xonsh", "elvish", "rc", "osh", "posh", "npx", "npm", "capsh", "vagrant", "su", "runuser", "flock", "script":
		s.shell = true
	case "env":
		s.env = true
	case "cmd":
		s.cmd = true
	case "powershell", "pwsh":
		s.powershell = true
	case "sg", "watch", "tmux", "hyperfine":
		s.all = true
	}
	return isCode
}

// programName returns the name of a program in lower case, without the .exe of Windows, which
// does not see dots and blanks at the end of a name.
func programName(word string) string {
	base := word[strings.LastIndexAny(word, `/\:`)+1:]
	return strings.TrimSuffix(strings.ToLower(strings.TrimRight(base, ". ")), ".exe")
}
