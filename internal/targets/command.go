package targets

import (
	"errors"
	"fmt"
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
	shell, script, found := false, false, false // script: the next operand is one
	// scripts: all that follows is one, or may become one if it is an item with a flag
	cmd, scripts := false, isCmd(args[0])
	powershell := false // whose script comes, unless it is a file
	for _, arg := range args {
		scripts = scripts || cmd && isCmdFlag(arg)
		cmd = cmd || isCmd(arg)
		powershell = (powershell || isPowerShell(arg)) && !isFileFlag(arg)
		if strings.Contains(arg, Item) {
			if script || scripts || powershell {
				return nil, &TemplateError{"{} is in the script of a shell, which would run what the items say",
					`give it to the script as an argument: sh -c 'echo "$1"' sh {}`}
			}
			found = true
		}
		isFlag := strings.HasPrefix(arg, "-")
		script = shell && scriptFlag(arg) || script && isFlag
		shell = isShell(arg) || shell && (isFlag || !script)
	}
	if !found {
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

// isShell reports whether a word is a shell that takes a script after -c.
func isShell(word string) bool {
	switch programName(word) {
	case "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "su", "script":
		return true
	}
	return false
}

// isCmd reports whether a word is the shell of Windows, which takes a script after /c.
func isCmd(word string) bool { return programName(word) == "cmd" }

// isPowerShell reports whether a word is a PowerShell, which takes a script after -Command or
// without any flag.
func isPowerShell(word string) bool {
	name := programName(word)
	return name == "powershell" || name == "pwsh"
}

// isFileFlag reports whether a word is PowerShell's -File, which may be shortened.
func isFileFlag(word string) bool {
	return len(word) > 1 && strings.ContainsAny(word[:1], "-/") && strings.HasPrefix("file", strings.ToLower(word[1:]))
}

// isCmdFlag reports whether a word has cmd's /c, /k or /r in it, maybe after other flags.
func isCmdFlag(word string) bool {
	word = strings.ToLower(word)
	return strings.Contains(word, "/c") || strings.Contains(word, "/k") || strings.Contains(word, "/r")
}

// programName returns the name of a program in lower case, without the .exe of Windows, which
// does not see dots and blanks at the end of a name.
func programName(word string) string {
	base := word[strings.LastIndexAny(word, `/\:`)+1:]
	return strings.TrimSuffix(strings.ToLower(strings.TrimRight(base, ". ")), ".exe")
}

// scriptFlag reports whether a shell's flag, such as -c or -ec, has a script after it.
func scriptFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, "c")
}
