package cli

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/poll"
)

// headerLine matches a header whose -H was forgotten, and assignment a variable
// that is set before a command, as in a shell.
var (
	headerLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*): `) })
	assignment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)=`) })
)

const headerHint = "a header stands behind -H: -H '%s'"

// surplus refuses the operand at an index. Where it does not belong an operand
// may be a secret, so it is told by its place and by what of it is none.
func surplus(operands []string, index int, why string) *usageError {
	err := usagef("%s is one too many: %s", operandName(operands, index), why)
	if word := operands[index]; headerLine().MatchString(word) {
		err.hint(headerHint, harmless(word))
	} else if name := longDash(word); name != "" {
		err.hint(dashHint, name)
	}
	return err
}

const dashHint = "did you mean --%s? A flag begins with two hyphens, not with a dash"

// longDash is the name of a flag before which an editor has made a dash of the
// hyphens; "" for any other word.
func longDash(word string) string {
	name := strings.TrimLeft(word, "\u2010\u2011\u2012\u2013\u2014\u2015\u2212")
	name, _, _ = strings.Cut(name, "=")
	if mainFlags().lookup(name) == nil || strings.HasPrefix(word, name) {
		return ""
	}
	return name
}

// strayBefore refuses a first operand that is no program, with a URL behind it:
// what was to be the value of a flag, or a part of it. It returns nil for any
// other.
func strayBefore(operands []string) error {
	if _, err := exec.LookPath(operands[0]); err == nil || !slices.ContainsFunc(operands[1:], withScheme.MatchString) {
		return nil
	}
	return surplus(operands, 0, "a URL stands behind it").hint("the flag before it takes no value, or has one already; a value with blanks stands in quotes")
}

// noProgram refuses a word in the place of a program that is none and may hold a
// secret. It returns nil for any other.
func noProgram(word string) error {
	err := usagef("%s is neither a URL nor a program", operandName([]string{word}, 0))
	switch {
	case headerLine().MatchString(word):
		return err.hint(headerHint, harmless(word))
	case longDash(word) != "":
		return err.hint(dashHint, longDash(word))
	case assignment().MatchString(word):
		return err.hint("a variable is set by env: poll -- env %s COMMAND", harmless(word))
	}
	if words := strings.Fields(word); len(words) > 1 {
		if _, missing := exec.LookPath(words[0]); missing == nil || slices.ContainsFunc(words, isForShell) {
			return err.hint("a command is not run by a shell: poll -- sh -c '%s ...'", programName(words[0]))
		}
	}
	return nil
}

func operandName(operands []string, index int) string {
	if part := harmless(operands[index]); part != "" {
		return fmt.Sprintf("operand %d (%s)", index+1, part)
	}
	return fmt.Sprintf("operand %d", index+1)
}

// harmless is the part of a word that may be repeated in an error: the name of
// a header, a variable or a flag, a URL without its secrets, or nothing.
func harmless(word string) string {
	if m := headerLine().FindStringSubmatch(word); m != nil {
		return m[1] + ": ..."
	}
	if m := assignment().FindStringSubmatch(word); m != nil {
		return m[1] + "=..."
	}
	switch {
	case withScheme.MatchString(word):
		return poll.TargetName(word)
	case strings.HasPrefix(word, "--"):
		name, _, _ := strings.Cut(word, "=")
		return name
	case isFlag(word):
		return string([]rune(word)[:2]) // what follows may be its value
	}
	return ""
}
