package cli

import "strings"

// unknownFlag says that there is no such flag, and which may have been meant.
func (s *split) unknownFlag(table flags, spelled string) error {
	err := usagef("unknown flag %s", spelled)
	name := strings.TrimLeft(spelled, "-")
	if meant, ok := elsewhere[name]; ok && table.lookup(meant[2:]) != nil {
		return err.hint("poll calls it %s", meant)
	}
	if near := nearest(name, table.names()); near != "" {
		return err.hint("did you mean --%s?", near)
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
	"wait": "--interval", "i": "--interval", "retry-interval": "--interval",
	"backoff": "--strategy", "max-delay": "--max-wait", "max-interval": "--max-wait",
	"connect-timeout": "--attempt-timeout", "fail-if": "--error-if", "success-if": "--until",
	"for": "--until", "while": "--not-ready-if", "quiet-stderr": "--quiet", "silence": "--quiet",
	"method": "--request", "headers": "--header", "body": "--data",
}

// nearest returns the candidate that word is the beginning of or, if that is
// said of none or of several, the one that differs least; "" if none is near.
func nearest(word string, candidates []string) string {
	if whole := beginningWith(word, candidates); len(whole) == 1 && len(word) >= leastBeginning {
		return whole[0]
	}
	best, least := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(word, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// leastBeginning is how many letters of a word say which one is meant.
const leastBeginning = 3

func beginningWith(start string, words []string) []string {
	var found []string
	for _, word := range words {
		if strings.HasPrefix(word, start) {
			found = append(found, word)
		}
	}
	return found
}

// distance counts the single-letter changes between two words (Levenshtein,
// with the swap of two neighbours as one change).
func distance(a, b string) int {
	before, row := []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			next[j+1] = min(row[j]+change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
