package words

import (
	"errors"
	"os"
	"strings"
)

// mostBytes is the maximum length of a command line. cmd.exe reads 8191 UTF-16 code units, and uses some of them
// itself. A string has at least as many bytes as code units.
const mostBytes = 8000

var (
	// errUnfit is the error for an argument that cannot be passed to a batch file. cmd.exe ends the command line at a
	// line break. Programs disagree on how to read a quotation mark and the characters after it.
	errUnfit = errors.New(`an argument holds a quote or a line break, which is not safe for a batch file`)
	// errLines is the error for a script of several lines, because cmd.exe reads only one line.
	errLines = errors.New("cmd.exe runs one line only")
	// errLong is the error for a command line that cmd.exe would truncate.
	errLong = errors.New("the arguments are longer than cmd.exe reads")
)

// CommandLine returns the program to start for the file at path on Windows, and its command line. path is the file
// that Windows has found for the command, and args[0] is the name of the program.
//
// If path is cmd.exe, or a batch file, which cmd.exe runs, line is quoted for cmd.exe. For any other program, line
// is "", so that the caller uses the quoting rules of the C runtime, which cmd.exe does not follow.
//
// CommandLine returns an error if cmd.exe cannot safely run the command.
func CommandLine(path string, args []string) (program, line string, err error) {
	switch name := baseName(path); {
	case name == "cmd.exe":
		program, line = path, scriptLine(args[1:])
		if strings.ContainsAny(line, "\r\n") {
			err = errLines
		}
	case strings.HasSuffix(name, ".bat"), strings.HasSuffix(name, ".cmd"):
		// COMSPEC is ignored: it may name another interpreter with other quoting rules.
		program, line = os.Getenv("SystemRoot")+`\System32\cmd.exe`, batchLine(path, args[1:])
		if strings.ContainsAny(strings.Join(args[1:], ""), "\"\r\n\x00") {
			err = errUnfit
		}
	default:
		program = path
	}
	if err == nil && len(line) > mostBytes {
		err = errLong
	}
	return program, line, err
}

// baseName returns the name of the file at path, in lower case. It removes dots and spaces at the end, because
// Windows ignores them.
func baseName(path string) string {
	return strings.ToLower(strings.TrimRight(path[strings.LastIndexAny(path, `/\:`)+1:], ". "))
}

// scriptLine returns the command line for cmd.exe with the arguments args, in which the script follows a /c, /k or
// /r flag. If there is no such flag, scriptLine returns "". It puts the script into an additional pair of quotation
// marks, because cmd.exe removes the first and the last quotation mark.
func scriptLine(args []string) string {
	for i, arg := range args {
		at := scriptFlag().FindStringIndex(arg)
		if at == nil {
			continue
		}
		before := strings.Join(append([]string{"cmd.exe"}, args[:i]...), " ")
		words := args[i+1:]
		if rest := arg[at[1]:]; rest != "" { // as in /cdir
			words = append([]string{rest}, words...)
		}
		return before + " " + arg[:at[1]] + ` "` + script(words) + `"`
	}
	return ""
}

var (
	// scriptFlag matches the flag in front of the script. In the same argument, other flags may precede this flag, as
	// in /d/c. cmd.exe treats /r like /c.
	scriptFlag = Pattern(`/[cCkKrR]`)
	// operator matches a word that starts with a command separator, or with a redirection, optionally after a digit.
	operator = Pattern(`^(?:[&|]|[0-9]?[<>])`)
	// plainArg matches an argument that has no special meaning for cmd.exe and does not end with a backslash.
	plainArg = Pattern(`^[-#$*+./:?@\\\w]*[-#$*+./:?@\w]$`)
)

// script joins words with spaces. A single word is a complete script, and is returned unchanged. In a script of
// several words, script quotes every empty word, and every word that cmd.exe would split, except a word that
// contains quotation marks or starts with an operator.
func script(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t&|<>") && !strings.Contains(word, `"`) && !operator().MatchString(word) {
			word = `"` + word + `"`
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

// batchLine returns a command line for cmd.exe that runs the batch file at path. cmd.exe neither runs nor expands
// any part of the arguments. The flags disable settings of the user: commands that run first (AutoRun), and the
// expansion of exclamation marks.
func batchLine(path string, args []string) string {
	line := `cmd.exe /e:ON /v:OFF /d /c ""` + withoutVariables(strings.TrimRight(path, ". ")) + `"`
	for _, arg := range args {
		line += " " + batchArg(arg)
	}
	return line + `"`
}

// batchArg quotes an argument of a batch file for cmd.exe. The quoting also suits the C runtime of a program to
// which the batch file passes the argument: backslashes before the last quotation mark are doubled, because the C
// runtime halves them. Inside quotation marks, only the percent sign has a special meaning for cmd.exe.
func batchArg(arg string) string {
	if plainArg().MatchString(arg) {
		return arg
	}
	backslashes := arg[len(strings.TrimRight(arg, `\`)):]
	return `"` + withoutVariables(arg) + backslashes + `"`
}

// withoutVariables changes text so that cmd.exe expands no variables. Because a command line has no escape for a
// percent sign, withoutVariables inserts the empty substring of a variable that always exists after each percent
// sign.
func withoutVariables(text string) string {
	return strings.ReplaceAll(text, "%", "%%cd:~,%")
}
