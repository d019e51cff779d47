package cli

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// refuseMisplaced refuses what stands among the words of a command though poll
// or a shell was meant to read it. The command would take it, or ignore it, and
// the wait would be for something else than was asked for. Behind "--" every
// word is the command's.
func (s *split) refuseMisplaced(table flags, args []string) error {
	var found, forShell string
	var ours []string
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		name, value, glued := strings.Cut(word, "=")
		f := table.lookup(strings.TrimPrefix(name, "--"))
		if f != nil && !f.isSwitch() && !glued && len(rest) > 1 {
			value = rest[1]
		}
		switch {
		case isForShell(word):
			found, forShell = cmp.Or(found, word), cmp.Or(forShell, word)
		case strings.HasPrefix(name, "--") && f != nil && f.isPolls(value):
			found = cmp.Or(found, name)
			ours = append(ours, name)
			if f.isSwitch() {
				continue
			}
			if !glued && len(rest) > 1 {
				rest = rest[1:]
			}
			ours = append(ours, cmp.Or(shellQuoted(value), f.value))
		}
	}
	if found == "" {
		return nil
	}
	err := usagef("%s stands behind the command, which would take it as a word of its own", found)
	if found == forShell {
		err = usagef("%s is for a shell, and a command is not run by one", found)
	}
	poll, program := "poll ", programName(args[0])
	if len(s.given) > 0 {
		poll += "... "
	}
	command := program + " ..."
	if forShell != "" {
		command = "sh -c '" + program + " ... " + forShell + " ...'"
	}
	return err.hint("%s", poll+strings.Join(append(ours, "-- "+command), " ")).
		hint("if it is meant for %s: %s-- %s ...", program, poll, program)
}

// isPolls reports whether a flag with that value, behind a command, was meant
// for poll.
func (f *flag) isPolls(value string) bool {
	if !f.onlyPolls || f.offers == nil {
		return f.onlyPolls
	}
	return slices.ContainsFunc(f.offers(), func(c candidate) bool { return c.word == value })
}

// isForShell reports whether a word is one by which a shell joins commands or
// directs their output.
func isForShell(word string) bool {
	return slices.Contains([]string{"|", "|&", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"}, word)
}

// plainWord matches what a shell takes as it is.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./+-]+$`) })

// programName is the first word of a command as it may be shown: what else it
// may be can hold a secret.
func programName(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "COMMAND"
}

// shellQuoted writes a word so that a shell reads it unchanged; "" stays.
func shellQuoted(word string) string {
	if word == "" || isNumber(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func isNumber(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// isDocument reports whether a word is JSON or names a file of it, as curl's
// --json takes it. A bracket alone is a program.
func isDocument(word string) bool {
	return strings.HasPrefix(word, "{") || strings.HasPrefix(word, "@") || len(word) > 1 && word[0] == '['
}

// curlsJSON refuses a document behind --json, which in curl is a flag for a body
// to send.
func curlsJSON() error {
	return usagef("--json takes no value: it prints the outcome as JSON").
		hint("curl's --json DATA is -d DATA -H 'Content-Type: application/json'")
}
