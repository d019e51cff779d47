package words

import (
	"errors"
	"os"
	"slices"
	"strings"
)

// mostBytes is the longest command line. cmd.exe reads 8191 UTF-16 units, of which it uses an undocumented number
// itself. A string never has fewer bytes than units.
const mostBytes = 8000

var (
	// errUnfit is the error of an argument that no batch file can get. A line break ends the command line for
	// cmd.exe. Programs differ in how they read a quote and the text that follows.
	errUnfit = errors.New(`an argument holds a quote or a line break, which is not safe for a batch file`)
	// errLines is the error of a script of several lines: cmd.exe reads one line.
	errLines = errors.New("cmd.exe runs one line only")
	// errLong is the error of a command line that cmd.exe would truncate.
	errLong = errors.New("the arguments are longer than cmd.exe reads")
)

// unfit reports whether no batch file can get an argument.
func unfit(arg string) bool { return strings.ContainsAny(arg, "\"\r\n\x00") }

// CommandLine returns the program to start for the file at path, and its command line, which is "" for the
// quoting of the C runtime. args[0] is the name of the program. path is the file that Windows has found. If it is
// cmd.exe or a batch file, which cmd.exe runs, the command line is quoted for cmd.exe, which does not read the
// quoting of the C runtime.
func CommandLine(path string, args []string) (program, line string, err error) {
	switch name := baseName(path); {
	case name == "cmd.exe":
		program, line = path, scriptLine(args[1:])
		if strings.ContainsAny(line, "\r\n") {
			err = errLines
		}
	case strings.HasSuffix(name, ".bat"), strings.HasSuffix(name, ".cmd"):
		// Another interpreter, as COMSPEC may name, may read another quoting.
		program, line = os.Getenv("SystemRoot")+`\System32\cmd.exe`, batchLine(path, args[1:])
		if slices.ContainsFunc(args[1:], unfit) {
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

// baseName returns the name of a file in lower case. Dots and blanks at its end are left out, since Windows
// ignores them.
func baseName(path string) string {
	return strings.ToLower(strings.TrimRight(path[strings.LastIndexAny(path, `/\:`)+1:], ". "))
}

// scriptLine returns the command line of a cmd.exe that runs the arguments after a /c or /k, or "" without such
// a flag. cmd.exe removes the first and the last of the quotes.
func scriptLine(args []string) string {
	for i, arg := range args {
		at := scriptFlag(arg)
		if at < 0 {
			continue
		}
		before := strings.Join(append([]string{"cmd.exe"}, args[:i]...), " ")
		words := args[i+1:]
		if rest := arg[at+2:]; rest != "" { // as in /cdir
			words = append([]string{rest}, words...)
		}
		return before + " " + arg[:at+2] + ` "` + script(words) + `"`
	}
	return ""
}

// scriptFlag returns the index of the first /c or /k in an argument, or -1. Other flags may precede it, as in
// /d/c. /r has the meaning of /c.
func scriptFlag(arg string) int {
	for i := range max(len(arg)-1, 0) {
		if arg[i] == '/' && strings.IndexByte("cCkKrR", arg[i+1]) >= 0 {
			return i
		}
	}
	return -1
}

// script joins the words of a script by blanks. A single word is the whole script. If there are several words, a
// word that cmd.exe would split gets quotes, unless the word contains quotes or starts with an operator.
func script(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t&|<>") && !strings.Contains(word, `"`) && !isOperator(word) {
			word = `"` + word + `"`
		}
		quoted[i] = word
	}
	return strings.Join(quoted, " ")
}

// isOperator reports whether a word starts with an operator between commands, or with a redirection, which a digit
// may precede.
func isOperator(word string) bool {
	redirection := strings.TrimLeft(word[:1], "0123456789") + word[1:]
	return strings.ContainsRune("&|", rune(word[0])) || strings.HasPrefix(redirection, "<") || strings.HasPrefix(redirection, ">")
}

// batchLine returns the command line of a cmd.exe that runs a batch file. cmd.exe neither runs nor expands any
// part of the arguments. The switches disable settings of the user: commands that run first (AutoRun), and a
// meaning for exclamation marks.
func batchLine(path string, args []string) string {
	var b strings.Builder
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /c ""`)
	b.WriteString(withoutVariables(strings.TrimRight(path, ". ")))
	b.WriteByte('"')
	for _, arg := range args {
		b.WriteByte(' ')
		b.WriteString(batchArg(arg))
	}
	b.WriteByte('"')
	return b.String()
}

// batchArg quotes an argument of a batch file for cmd.exe, and for the C runtime of a program that gets the
// argument from the batch file. The C runtime halves backslashes before a quote. Within quotes only a percent sign
// has a meaning for cmd.exe.
func batchArg(arg string) string {
	if arg != "" && !strings.ContainsFunc(arg, needsQuotes) && !strings.HasSuffix(arg, `\`) {
		return arg
	}
	backslashes := arg[len(strings.TrimRight(arg, `\`)):]
	return `"` + withoutVariables(arg) + backslashes + `"`
}

// needsQuotes reports whether a character may have a meaning for cmd.exe.
func needsQuotes(r rune) bool {
	return !strings.ContainsRune("#$*+-./:?@\\_", r) && !(r >= '0' && r <= '9') && !(r >= 'A' && r <= 'Z') && !(r >= 'a' && r <= 'z')
}

// withoutVariables prevents cmd.exe from expanding variables. A command line has no escape for a percent sign.
// Therefore each percent sign is followed by the empty substring of a variable that always exists.
func withoutVariables(text string) string {
	return strings.ReplaceAll(text, "%", "%%cd:~,%")
}
