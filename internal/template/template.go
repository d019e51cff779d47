// Package template fills placeholders in URLs and in arguments of commands, so that
// what is filled in stays in its place.
package template

import (
	"errors"
	"strings"
)

// A URL is a URL with placeholders in braces. What they mean is for the caller to say.
type URL struct {
	texts  []string // one more than holes
	holes  []string // what stands in braces, without space around it
	places []place  // of the holes
	sample string
	dots   int // dot segments in the path of the template itself
}

// ParseURL parses a template: a URL, or the path of one. The error repeats no part of
// it, since a URL may hold secrets. The host, port and so on are for the caller to check,
// by the [URL.Sample].
func ParseURL(s string) (*URL, error) {
	u := &URL{}
	for {
		text, rest, found := strings.Cut(s, "{")
		u.texts = append(u.texts, text)
		if !found {
			break
		}
		end := closingBrace(rest)
		if end < 0 {
			return nil, errors.New("a { of the URL is not closed")
		}
		u.holes, s = append(u.holes, strings.TrimSpace(rest[:end])), rest[end+1:]
	}
	if first := u.texts[0]; len(u.holes) > 0 && !strings.HasPrefix(first, "/") && !strings.Contains(first, "://") {
		return nil, errors.New("a { of the URL stands in its scheme")
	}
	u.escapePath()
	u.dots = dotSegments(u.Sample())
	at := 0
	for _, text := range u.texts[:len(u.holes)] {
		at += len(text)
		if splitsEscape(u.Sample()[:at]) {
			return nil, errors.New("a { of the URL stands within a character that is escaped with %")
		}
		u.places = append(u.places, placeOf(u.Sample(), at))
		at++
	}
	return u, nil
}

// escapePath escapes what has to be escaped in the path of the template itself. Otherwise
// [url.URL] would escape all of the path again, and make slashes of those in a value.
func (u *URL) escapePath() {
	start, end := pathOf(strings.Join(u.texts, "0"))
	for i, text := range u.texts {
		from, to := min(max(start, 0), len(text)), min(max(end, 0), len(text))
		u.texts[i] = text[:from] + escapeUnsafe(text[from:to]) + text[to:]
		start, end = start-len(text)-1, end-len(text)-1
	}
	u.sample = strings.Join(u.texts, "0")
}

// Holes returns what stands in the braces, in order and without space around it.
func (u *URL) Holes() []string { return u.holes }

// Sample returns the URL with a 0 in place of each pair of braces.
func (u *URL) Sample() string { return u.sample }

// TakesList reports whether a hole can hold several values: it is neither in the host nor in
// the port.
func (u *URL) TakesList(hole int) bool { return u.places[hole] == inPath || u.places[hole] == inQuery }

// rest is the sample behind a hole.
func (u *URL) rest(hole int) string { return strings.Join(u.texts[hole+1:], "0") }

// A Misfit says why a value cannot be filled in.
type Misfit struct {
	Hole    string // what stands in the braces
	Problem string // "is empty"
}

func (m *Misfit) Error() string { return m.Hole + " " + m.Problem }

// Fill puts the values of each hole into the template, each escaped for its place, and with
// commas between them, so that none can begin another part of the URL: it can neither leave
// its place in the path nor add a parameter to the query, and only a hole in the host or the
// port changes these. A hole that is host and port as a whole takes "host", "host:port" and
// "[IPv6]:port". A value is always one segment of the path.
//
// An error of values is returned as it is; a value that does not fit is a [*Misfit].
func (u *URL) Fill(values func(hole int) ([]string, error)) (string, error) {
	var b strings.Builder
	b.Grow(len(u.sample) + 16*len(u.holes))
	for i, hole := range u.holes {
		b.WriteString(u.texts[i])
		texts, err := values(i)
		if err != nil {
			return "", err
		}
		for j, text := range texts {
			escaped, problem := u.places[i].escape(text)
			if problem == "" && u.places[i] == inPath && strings.Contains(text, ".") &&
				dotSegments(b.String()+escaped+u.rest(i)) > u.dots {
				problem = "leads out of its place in the path"
			}
			if problem != "" {
				return "", &Misfit{hole, problem}
			}
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(escaped)
		}
	}
	b.WriteString(u.texts[len(u.holes)])
	return b.String(), nil
}

// Item is the placeholder in an argument of a command.
const Item = "{}"

// Arg puts an item into an argument wherever that has [Item]. No other braces count. An
// argument that would begin with "-" only because of the item is refused: it would be
// read as a flag.
func Arg(arg, item string) (string, error) {
	filled := strings.ReplaceAll(arg, Item, item)
	if strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg, "-") {
		return "", errors.New("begins with -, and would be read as a flag")
	}
	return filled, nil
}

// ArgList puts items into an argument: one that is an [Item] as a whole becomes an argument
// for each of them, any other has them joined by commas.
func ArgList(arg string, items []string) ([]string, error) {
	if arg != Item {
		filled, err := Arg(arg, strings.Join(items, ","))
		return []string{filled}, err
	}
	args := make([]string, len(items))
	for i, item := range items {
		var err error
		if args[i], err = Arg(arg, item); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// Args checks the words of a command that items are put into: some argument has an
// [Item], the program has none, and none is in a shell's script, which would run what
// an item says.
func Args(args []string) error {
	if strings.Contains(args[0], Item) {
		return ErrProgram
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
				return ErrScript
			}
			found = true
		}
		isFlag := strings.HasPrefix(arg, "-")
		script = shell && scriptFlag(arg) || script && isFlag
		shell = isShell(arg) || shell && (isFlag || !script)
	}
	if !found {
		return ErrNoItem
	}
	return nil
}

var (
	// ErrProgram is the error of an [Item] in the program of a command.
	ErrProgram = errors.New("{} is no program: items fill the arguments of a command")
	// ErrNoItem is the error of a command without an [Item].
	ErrNoItem = errors.New("no argument of the command has a {}")
	// ErrScript is the error of a shell's script with an [Item].
	ErrScript = errors.New("{} is in the script of a shell, which would run what the items say")
)

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
