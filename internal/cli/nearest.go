package cli

import (
	"strings"

	"github.com/pollcli/poll/status/expr/near"
)

// unknownFlag says that there is no such flag, and which may have been meant.
func (s *split) unknownFlag(table flags, spelled string) error {
	err := usagef("unknown flag %s", spelled)
	name := strings.TrimLeft(spelled, "-")
	if meant, ok := elsewhere[name]; ok && table.lookup(meant[2:]) != nil {
		return err.hint("poll calls it %s", meant)
	}
	if meant := nearest(name, table.names()); meant != "" {
		return err.hint("did you mean --%s?", meant)
	}
	if s.of != "" {
		return err.hint("poll %s --help lists its flags", s.of)
	}
	return err.hint("poll --help lists the flags; a command's own flags stand behind it: poll [flags] -- COMMAND %s", spelled)
}

// elsewhere are the names that other tools give to flags of poll.
var elsewhere = map[string]string{
	"attempts": "--max-attempts", "retry": "--max-attempts", "retries": "--max-attempts",
	"max-retries": "--max-attempts", "times": "--max-attempts", "tries": "--max-attempts",
	"max-time": "--timeout", "retry-max-time": "--timeout", "m": "--timeout", "t": "--timeout",
	"delay": "--interval", "retry-delay": "--interval", "sleep": "--interval", "every": "--interval",
	"wait": "--interval", "retry-interval": "--interval",
	"backoff": "--strategy", "max-delay": "--max-wait", "max-interval": "--max-wait",
	"connect-timeout": "--attempt-timeout", "fail-if": "--error-if", "success-if": "--until",
	"for": "--until", "while": "--not-ready-if", "quiet-stderr": "--quiet", "silence": "--quiet",
	"method": "--request", "headers": "--header", "body": "--data",
}

// nearest returns the candidate that was meant, "" if none is near.
func nearest(word string, candidates []string) string { return near.Word(word, candidates) }
